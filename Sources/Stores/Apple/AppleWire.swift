import Renewal

/// The answer of Get All Subscription Statuses: every subscription of the customer in the app.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/statusresponse>
struct AppleStatusResponse: Sendable {
    let environment: String?
    let bundleId: AppID?
    let entries: [Entry]

    /// What App Store Server API calls *lastTransactionsItem*, of every subscription group.
    ///
    /// <https://developer.apple.com/documentation/appstoreserverapi/lasttransactionsitem>
    struct Entry: Sendable {
        /// Not signed. Nil where it is not told.
        let group: GroupID?
        let originalTransactionId: OrderID?
        /// 1 active, 2 expired, 3 billing retry, 4 grace, 5 revoked; others are kept as they are.
        let status: Int
        let signedTransactionInfo: String
        let signedRenewalInfo: String?
    }

    /// - Throws: `.malformed` with the member that is missing or of another type.
    init(_ body: [UInt8]) throws(StoreFailure) {
        let json = try JSONObject(body)
        environment = try json.text("environment")
        bundleId = try json.id("bundleId")
        guard let groups = try json.objects("data") else { throw json.failure(at: "data") }
        var entries: [Entry] = []
        for group in groups {
            let id: GroupID? = try? group.id("subscriptionGroupIdentifier")
            for entry in try group.objects("lastTransactions") ?? [] {
                entries.append(try Entry(entry, in: id))
            }
        }
        self.entries = entries
    }
}

extension AppleStatusResponse.Entry {
    fileprivate init(_ json: JSONObject, in group: GroupID?) throws(StoreFailure) {
        self.group = group
        originalTransactionId = try json.id("originalTransactionId")
        guard let status = try json.integer("status") else { throw json.failure(at: "status") }
        self.status = Int(status)
        guard let transaction = try json.text("signedTransactionInfo") else {
            throw json.failure(at: "signedTransactionInfo")
        }
        signedTransactionInfo = transaction
        signedRenewalInfo = try json.text("signedRenewalInfo")
    }
}

/// The answer of Get Transaction Info.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/transactioninforesponse>
struct AppleTransactionResponse: Decodable, Sendable {
    let signedTransactionInfo: String
}

/// A page of the transaction history or of the refund history: at most 20 transactions.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/historyresponse>
/// <https://developer.apple.com/documentation/appstoreserverapi/refundhistoryresponse>
struct AppleHistoryResponse: Decodable, Sendable {
    /// Opaque; asks for the next page.
    let revision: String?
    let hasMore: Bool?
    let bundleId: AppID?
    let environment: String?
    let signedTransactions: [String]?
}

/// The answer of Look Up Order ID.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/orderlookupresponse>
struct AppleOrderResponse: Decodable, Sendable {
    /// 0 for an order of the app, 1 for none.
    let status: Int
    let signedTransactions: [String]?
}

/// <https://developer.apple.com/documentation/appstoreserverapi/error-codes>
struct AppleErrorBody: Decodable, Sendable {
    let errorCode: Int64
}
