import Curl
import Renewal

/// What the token column of an Apple purchase holds.
enum AppleIdentifier: Hashable, Sendable {
    /// A transaction id or an original transaction id.
    case transaction(String)
    /// A signed transaction of StoreKit 2.
    case signed(String)

    /// Fails with `.unsupported` for receipts and for whatever else may be there.
    init(token: String) throws(StoreFailure) {
        let bytes = token.utf8.filter { !Self.isBlank($0) }
        guard !bytes.isEmpty else { throw .rejected(reason: "the token is empty") }
        if bytes.count <= Self.digitLimit, bytes.allSatisfy(Self.isDigit) {
            self = .transaction(String(decoding: bytes, as: UTF8.self))
        } else if bytes.count(where: { $0 == UInt8(ascii: ".") }) == 2,
            bytes.starts(with: "eyJ".utf8)
        {
            guard bytes.count <= Self.signedLimitBytes else {
                throw .rejected(reason: "the signed transaction is too long")
            }
            self = .signed(String(decoding: bytes, as: UTF8.self))
        } else {
            throw .unsupported(reason: "neither a transaction id nor a signed transaction")
        }
    }

    private static let digitLimit = 19
    private static let signedLimitBytes = 32 << 10

    /// Copies of base64 texts pick up line breaks.
    private static func isBlank(_ byte: UInt8) -> Bool {
        [0x20, 0x09, 0x0a, 0x0d].contains(byte)
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}

enum AppleRequest {
    /// App Store Server API, *Get All Subscription Statuses*.
    static func statuses(
        of transaction: PathSegment, at host: StoreHost, token: AppleToken
    ) -> HTTPRequest {
        host.request(
            path: "/inApps/v1/subscriptions/" + transaction.text,
            headers: [HTTPHeader("Authorization", "Bearer " + token.text)])
    }
}
