import Crypto
import CryptoExtras
import FoundationEssentials

/// A JSON Web Token as a client sends it: read, not yet believed.
struct WebToken {
    struct Header: Decodable {
        var alg: String?
        var kid: String?
    }

    /// The claims of both kinds: Apple's request tokens and Google's assertions.
    struct Claims: Decodable {
        var iss: String?
        var aud: String?
        var bid: String?
        var scope: String?
        var iat: Int64?
        var exp: Int64?
    }

    let header: Header
    let claims: Claims
    private let signed: [UInt8]
    private let signature: [UInt8]

    /// Nil when `text` is not three base64url segments with two JSON objects.
    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let head = Base64.bytes(ofURL: parts[0].utf8),
            let body = Base64.bytes(ofURL: parts[1].utf8),
            let signature = Base64.bytes(ofURL: parts[2].utf8),
            let header = try? JSONDecoder().decode(Header.self, from: Data(head)),
            let claims = try? JSONDecoder().decode(Claims.self, from: Data(body))
        else { return nil }
        self.header = header
        self.claims = claims
        self.signature = signature
        signed = Array((parts[0] + "." + parts[1]).utf8)
    }

    func isSigned(by key: P256.Signing.PublicKey) -> Bool {
        guard header.alg == "ES256",
            let parsed = try? P256.Signing.ECDSASignature(rawRepresentation: signature)
        else { return false }
        return key.isValidSignature(parsed, for: signed)
    }

    func isSigned(by key: _RSA.Signing.PublicKey) -> Bool {
        let parsed = _RSA.Signing.RSASignature(rawRepresentation: signature)
        return header.alg == "RS256"
            && key.isValidSignature(parsed, for: signed, padding: .insecurePKCS1v1_5)
    }

    /// Did the token begin, and has it not ended, at `now` (seconds since 1970)?
    ///
    /// A token lives up to an hour, and may come from a clock up to a minute ahead.
    func isFresh(at now: Int64, needsIssueTime: Bool) -> Bool {
        guard let exp = claims.exp, exp > now else { return false }
        guard let iat = claims.iat else { return !needsIssueTime && exp <= now + 3600 }
        return iat <= now + 60 && exp > iat && exp - iat <= 3600
    }
}
