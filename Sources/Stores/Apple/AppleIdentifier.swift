import FoundationEssentials
import Renewal

/// What the token column of an Apple purchase holds.
enum AppleIdentifier: Hashable, Sendable {
    /// A transaction id, an original transaction id or an app transaction id.
    case transaction(OrderID)
    /// A signed transaction of StoreKit 2.
    case signed(String)
    case receipt(AppleReceiptFile)

    /// Recognises a token by its shape. Blanks and line breaks, the url-safe alphabet, a `+` that
    /// became a blank, a second layer of base64 and a JSON object around it are all put up with.
    ///
    /// - Throws: `.rejected`, with what is wrong.
    init(token: StoreToken) throws(StoreFailure) {
        self = try Self.recognise(Array(token.text.utf8), layer: 0)
    }

    private static func recognise(
        _ raw: [UInt8], layer: Int
    ) throws(StoreFailure) -> AppleIdentifier {
        guard raw.count <= limitBytes else { throw .rejected(reason: "the token is too long") }
        let bytes = raw.filter { !isBlank($0) }
        guard let first = bytes.first else { throw .rejected(reason: "the token is empty") }
        if bytes.allSatisfy(isDigit) { return try transaction(bytes) }
        guard layer < layerLimit else { throw unknown }
        if first == UInt8(ascii: "{") { return try opened(raw, layer: layer) }
        if bytes.contains(UInt8(ascii: ".")) { return try signed(bytes) }
        for candidate in [bytes, mended(raw)] {
            guard let content = decode(candidate) else { continue }
            if content.first == sequenceTag { return .receipt(AppleReceiptFile(.app, content)) }
            if let inner = try? recognise(content, layer: layer + 1) { return inner }
        }
        throw unknown
    }

    private static func transaction(_ digits: [UInt8]) throws(StoreFailure) -> AppleIdentifier {
        let id = OrderID(String(decoding: digits, as: UTF8.self))
        guard digits.count <= digitLimit else {
            throw .rejected(reason: "more digits than a transaction id has")
        }
        guard isUsable(id) else { throw .rejected(reason: "transaction 0 is one of Xcode's") }
        return .transaction(id)
    }

    private static func signed(_ bytes: [UInt8]) throws(StoreFailure) -> AppleIdentifier {
        guard bytes.count(where: { $0 == UInt8(ascii: ".") }) == 2, bytes.starts(with: "eyJ".utf8)
        else { throw unknown }
        guard bytes.count <= signedLimitBytes else {
            throw .rejected(reason: "the signed transaction is too long")
        }
        return .signed(String(decoding: bytes, as: UTF8.self))
    }

    /// An iOS 6 receipt, or what a client has wrapped into JSON.
    private static func opened(
        _ text: [UInt8], layer: Int
    ) throws(StoreFailure) -> AppleIdentifier {
        if let list = ApplePropertyList(text), list["purchase-info"] != nil {
            return .receipt(AppleReceiptFile(.transaction, text))
        }
        let wrapper = try? JSON.decode([String: Wrapped].self, from: text)
        for key in wrapperKeys {
            guard let inner = wrapper?[key]?.text else { continue }
            return try recognise(Array(inner.utf8), layer: layer + 1)
        }
        throw unknown
    }

    private struct Wrapped: Decodable {
        let text: String?

        init(from decoder: any Decoder) throws {
            text = try? decoder.singleValueContainer().decode(String.self)
        }
    }

    /// The richest first: a receipt knows its product, an id alone does not.
    private static let wrapperKeys = [
        "jwsRepresentation", "signedTransaction", "signedTransactionInfo", "receipt-data",
        "receiptData", "receipt", "transactionReceipt", "latest_receipt", "payload", "data",
        "originalTransactionId", "original_transaction_id", "transactionId", "transaction_id",
    ]

    /// Whether it can be the id of a purchase in a store: Xcode's are all zero.
    static func isUsable(_ id: OrderID) -> Bool {
        !id.isEmpty && id.text.utf8.count <= digitLimit && id.text.utf8.allSatisfy(isDigit)
            && id.text.utf8.contains { $0 != UInt8(ascii: "0") }
    }

    private static func decode(_ text: [UInt8]) -> [UInt8]? {
        Base64.decodeStandard(text.map(standard))
    }

    /// A form that was not encoded as one loses each `+` to a blank.
    private static func mended(_ text: [UInt8]) -> [UInt8] {
        text.drop(while: isBlank).map { $0 == 0x20 ? UInt8(ascii: "+") : $0 }
            .filter { !isBlank($0) }
    }

    private static func standard(_ byte: UInt8) -> UInt8 {
        switch byte {
        case UInt8(ascii: "-"): UInt8(ascii: "+")
        case UInt8(ascii: "_"): UInt8(ascii: "/")
        default: byte
        }
    }

    private static let unknown = StoreFailure.rejected(
        reason: "neither a transaction id, a signed transaction nor a receipt")
    private static let sequenceTag: UInt8 = 0x30
    private static let digitLimit = 19
    private static let signedLimitBytes = 32 << 10
    /// Receipts of customers with thousands of purchases have a few hundred kilobytes.
    private static let limitBytes = 4 << 20
    private static let layerLimit = 4

    /// Copies of base64 texts pick up line breaks.
    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x0a || byte == 0x0d
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}

/// A receipt as it was stored by an app.
struct AppleReceiptFile: Hashable, Sendable {
    enum Format: Hashable, Sendable {
        /// iOS 7 and later: PKCS #7, all purchases of a customer.
        case app
        /// iOS 6: an old-style property list, one transaction.
        case transaction
    }

    let format: Format
    let content: [UInt8]

    init(_ format: Format, _ content: [UInt8]) {
        self.format = format
        self.content = content
    }

    /// As verifyReceipt wants it: standard base64 with padding, in one line.
    var base64: String { Data(content).base64EncodedString() }
}
