import Crypto

/// A user of AWS, and the check of what they sign.
///
/// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
struct AWSKey: Sendable {
    static let algorithm = "AWS4-HMAC-SHA256"
    /// Where the simulator says that it is.
    static let region = "eu-west-1"
    private static let longestAge = 5 * 60 * Instant.second

    static let id = "AKIASTORESIMEXAMPLE0"

    let secret: String

    enum Flaw { case noSignature, unknownKey, wrongSignature, tooOld }

    /// What is wrong with the signature of a request to a service; nil when it is right. Its time
    /// is compared with the machine's.
    func flaw(of request: Request, service: String, at now: Instant) -> Flaw? {
        guard let sent = Sent(request.authorization) else { return .noSignature }
        let fields = request.signedFields
        guard sent.credential.count == 5, let date = fields["x-amz-date"], date.count == 16,
            sent.names.contains("host"), sent.names.contains("x-amz-date")
        else { return .noSignature }
        guard sent.credential[0] == Self.id else { return .unknownKey }
        let scope = Array(sent.credential.dropFirst())
        guard scope == [String(date.prefix(8)), Self.region, service, "aws4_request"],
            sent.signature == signature(of: request, sent.names, date, scope)
        else { return .wrongSignature }
        guard let signed = Self.instant(date), abs(now - signed) <= Self.longestAge else {
            return .tooOld
        }
        return nil
    }

    private func signature(
        of request: Request, _ names: [String], _ date: String, _ scope: [String]
    ) -> String {
        let fields = names.map { "\($0):\(request.signedFields[$0] ?? "")\n" }
        let canonical =
            "\(request.method)\n\(request.target)\n\n\(fields.joined())\n"
            + names.joined(separator: ";") + "\n" + Self.hex(SHA256.hash(data: request.body))
        let text =
            "\(Self.algorithm)\n\(date)\n\(scope.joined(separator: "/"))\n"
            + Self.hex(SHA256.hash(data: Array(canonical.utf8)))
        var key = Array("AWS4\(secret)".utf8)
        for part in scope + [text] {
            key = Array(
                HMAC<SHA256>.authenticationCode(
                    for: Array(part.utf8), using: SymmetricKey(data: key)))
        }
        return Self.hex(key)
    }

    /// The three parts of the header `Authorization`.
    private struct Sent {
        var credential: [String] = []
        var names: [String] = []
        var signature = ""

        init?(_ header: String?) {
            guard let header, header.hasPrefix(AWSKey.algorithm + " ") else { return nil }
            let parts = header.dropFirst(AWSKey.algorithm.count + 1).split(separator: ",")
            for part in parts.map({ $0.drop { $0 == " " } }) {
                let value = part.drop { $0 != "=" }.dropFirst()
                switch part.prefix(while: { $0 != "=" }) {
                case "Credential": credential = value.split(separator: "/").map(String.init)
                case "SignedHeaders": names = value.split(separator: ";").map(String.init)
                case "Signature": signature = String(value)
                default: return nil
                }
            }
        }
    }

    /// From `20260131T235959Z`.
    private static func instant(_ date: String) -> Instant? {
        let text = Array(date)
        func digits(_ range: Range<Int>) -> String { String(text[range]) }
        return Instant(
            text: digits(0..<4) + "-" + digits(4..<6) + "-" + digits(6..<8) + "T" + digits(9..<11)
                + ":" + digits(11..<13) + ":" + digits(13..<15) + "Z")
    }

    static func hex(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }.joined()
    }
}
