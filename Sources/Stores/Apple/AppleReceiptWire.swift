import Renewal

/// The answer of verifyReceipt, of receipts of iOS 7 and later and of iOS 6 alike. Numbers and
/// truth values come as texts, arrays in any order, and single objects where others send arrays.
///
/// <https://developer.apple.com/documentation/appstorereceipts/responsebody>
struct AppleReceiptResponse: Decodable, Sendable {
    let status: Int
    let environment: String?
    let receipt: Receipt?
    let latestReceipt: String?
    let latest: OneOrMany
    let latestExpired: OneOrMany
    let pending: [Pending]
    let isRetryable: Flag?
    /// Where iOS 6 has it: beside the receipt.
    let ownPending: Pending?

    private enum Key: String, CodingKey {
        case status, environment, receipt
        case latestReceipt = "latest_receipt"
        case latest = "latest_receipt_info"
        case latestExpired = "latest_expired_receipt_info"
        case pending = "pending_renewal_info"
        case isRetryable = "is_retryable"
        case isRetryableOld = "is-retryable"
    }

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Key.self)
        status = try members.decode(Int.self, forKey: .status)
        environment = try members.decodeIfPresent(String.self, forKey: .environment)
        receipt = try members.decodeIfPresent(Receipt.self, forKey: .receipt)
        latestReceipt = try members.decodeIfPresent(String.self, forKey: .latestReceipt)
        latest = try members.decodeIfPresent(OneOrMany.self, forKey: .latest) ?? OneOrMany()
        latestExpired =
            try members.decodeIfPresent(OneOrMany.self, forKey: .latestExpired) ?? OneOrMany()
        pending = try members.decodeIfPresent([Pending].self, forKey: .pending) ?? []
        isRetryable =
            try members.decodeIfPresent(Flag.self, forKey: .isRetryable)
            ?? members.decodeIfPresent(Flag.self, forKey: .isRetryableOld)
        ownPending = try? Pending(from: decoder)
    }

    /// The transactions of the receipt that was sent, as they were when it was made.
    var held: [AppleReceiptTransaction] {
        receipt.map { $0.inApp + ($0.own.map { [$0] } ?? []) } ?? []
    }

    /// The receipt that was sent, decoded. That of iOS 6 is a transaction itself.
    struct Receipt: Decodable, Sendable {
        let bundleID: AppID?
        let requestedAt: Text?
        let createdAt: Text?
        let inApp: [AppleReceiptTransaction]
        let own: AppleReceiptTransaction?

        private enum Key: String, CodingKey {
            case bundleID = "bundle_id"
            case requestedAt = "request_date_ms"
            case createdAt = "receipt_creation_date_ms"
            case inApp = "in_app"
        }

        init(from decoder: any Decoder) throws {
            let members = try decoder.container(keyedBy: Key.self)
            bundleID = try members.decodeIfPresent(AppID.self, forKey: .bundleID)
            requestedAt = try members.decodeIfPresent(Text.self, forKey: .requestedAt)
            createdAt = try? members.decodeIfPresent(Text.self, forKey: .createdAt)
            inApp =
                try members.decodeIfPresent([AppleReceiptTransaction].self, forKey: .inApp) ?? []
            let own = try AppleReceiptTransaction(from: decoder)
            self.own = own.transactionID == nil ? nil : own
        }
    }

    /// An array, or the single object of iOS 6. A base64 text, which has been seen as well, tells
    /// nothing.
    struct OneOrMany: Decodable, Sendable {
        var all: [AppleReceiptTransaction] = []

        init() {}

        init(from decoder: any Decoder) throws {
            let value = try decoder.singleValueContainer()
            if let many = try? value.decode([AppleReceiptTransaction].self) {
                all = many
            } else if (try? value.decode(String.self)) == nil {
                all = [try value.decode(AppleReceiptTransaction.self)]
            }
        }
    }

    /// App Store Receipts, *responseBody.Pending_renewal_info*.
    struct Pending: Decodable, Sendable {
        let productID: ProductID?
        let originalID: Text?
        let autoRenewProductID: ProductID?
        /// Whether it is to renew; not whether it is in force.
        let autoRenewStatus: Flag?
        /// 1 customer, 2 billing, 3 price increase, 4 product not available, 5 other.
        let expirationIntent: Text?
        let isInBillingRetry: Flag?
        let graceEnd: Text?
        let priceConsent: Flag?
        let priceIncrease: Flag?

        private enum CodingKeys: String, CodingKey {
            case productID = "product_id"
            case originalID = "original_transaction_id"
            case autoRenewProductID = "auto_renew_product_id"
            case autoRenewStatus = "auto_renew_status"
            case expirationIntent = "expiration_intent"
            case isInBillingRetry = "is_in_billing_retry_period"
            case graceEnd = "grace_period_expires_date_ms"
            case priceConsent = "price_consent_status"
            case priceIncrease = "price_increase_status"
        }
    }

    /// A text, or a number where a text belongs.
    struct Text: Decodable, Hashable, Sendable {
        let value: String

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let number = try? container.decode(Int64.self) {
                value = String(number)
            } else {
                value = try container.decode(String.self)
            }
        }
    }

    /// A truth value as `true`, `"true"`, `1` or `"1"`; the empty text is none.
    struct Flag: Decodable, Hashable, Sendable {
        let isSet: Bool?

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let flag = try? container.decode(Bool.self) {
                isSet = flag
                return
            }
            isSet =
                switch try container.decode(Text.self).value.lowercased() {
                case "true", "1", "yes": true
                case "false", "0", "no": false
                default: nil
                }
        }
    }
}

/// One transaction of an answer of verifyReceipt.
///
/// App Store Receipts, *responseBody.Latest_receipt_info*.
struct AppleReceiptTransaction: Decodable, Sendable {
    typealias Text = AppleReceiptResponse.Text
    typealias Flag = AppleReceiptResponse.Flag

    let productID: ProductID?
    let transactionID: OrderID?
    let originalID: OrderID?
    let lineItem: OrderID?
    let group: GroupID?
    /// Where iOS 6 names the app.
    let bundleID: AppID?
    let ownership: String?
    let accountToken: String?
    let isTrial: Bool
    let isIntroductory: Bool
    let isUpgraded: Bool
    /// Milliseconds since 1970; nil where a date is absent or empty, zero where it cannot be read.
    let purchased: Int64?
    /// Of what is restored the same as of what it is a copy of.
    let originallyPurchased: Int64?
    let expires: Int64?
    var cancelled: Int64?
    /// When its period was bought, whatever was restored since (`AppleReceiptLists`).
    var periodPurchased: Int64?

    /// Paid by somebody else: a family's copy, or a seat that was given.
    var isShared: Bool { ownership == "FAMILY_SHARED" || ownership == "ASSIGNED" }

    private enum Key: String, CodingKey {
        case productID = "product_id"
        case transactionID = "transaction_id"
        case originalID = "original_transaction_id"
        case lineItem = "web_order_line_item_id"
        case group = "subscription_group_identifier"
        case bundleID = "bundle_id"
        case bid
        case ownership = "in_app_ownership_type"
        case accountToken = "app_account_token"
        case isTrial = "is_trial_period"
        case isIntroductory = "is_in_intro_offer_period"
        case isUpgraded = "is_upgraded"
        case purchased = "purchase_date"
        case purchasedMilliseconds = "purchase_date_ms"
        case originallyPurchased = "original_purchase_date"
        case originallyPurchasedMilliseconds = "original_purchase_date_ms"
        case expires = "expires_date"
        case expiresMilliseconds = "expires_date_ms"
        case cancelled = "cancellation_date"
        case cancelledMilliseconds = "cancellation_date_ms"
    }

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Key.self)
        func text(_ key: Key) throws -> String? {
            try members.decodeIfPresent(Text.self, forKey: key)?.value
        }
        func id<ID: Identity>(_ key: Key) throws -> ID? { try text(key).map(ID.init) }
        func flag(_ key: Key) throws -> Bool {
            try members.decodeIfPresent(Flag.self, forKey: key)?.isSet ?? false
        }
        func date(_ milliseconds: Key, _ plain: Key) throws -> Int64? {
            let told = [try text(milliseconds), try text(plain)].compactMap(\.self)
            return told.first { !$0.isEmpty }.map { Self.milliseconds($0) ?? 0 }
        }
        productID = try id(.productID)
        transactionID = try id(.transactionID)
        originalID = try id(.originalID)
        lineItem = try id(.lineItem)
        group = try id(.group)
        bundleID = try id(.bundleID) ?? id(.bid)
        ownership = try text(.ownership)
        accountToken = try text(.accountToken)
        isTrial = try flag(.isTrial)
        isIntroductory = try flag(.isIntroductory)
        isUpgraded = try flag(.isUpgraded)
        purchased = try date(.purchasedMilliseconds, .purchased)
        originallyPurchased = try date(.originallyPurchasedMilliseconds, .originallyPurchased)
        expires = try date(.expiresMilliseconds, .expires)
        cancelled = try date(.cancelledMilliseconds, .cancelled)
    }

    /// Milliseconds, or the form for people: `2026-03-17 09:15:00 Etc/GMT`.
    static func milliseconds(_ text: String) -> Int64? {
        if let number = Int64(text) { return number }
        let words = text.split(separator: " ")
        guard words.count == 3, words[2] == "Etc/GMT" || words[2] == "GMT" || words[2] == "UTC"
        else { return nil }
        return CalendarTime.timestamp(rfc3339: "\(words[0])T\(words[1])Z").map {
            $0.microsecondsSinceEpoch / 1000
        }
    }
}
