import Crypto
import FoundationEssentials
import SwiftASN1
import X509

/// Signs as the App Store does: JWS with ES256 and a chain of three certificates in `x5c`, which
/// has the shape of Apple's (P-384 root and intermediate, P-256 leaf, the two marker extensions).
struct AppleSigner: Sendable {
    /// What may be wrong with a signature on purpose.
    enum Flaw: Hashable, Sendable {
        case none
        /// Signed by a key that is not the leaf's.
        case foreignKey
        /// The leaf was no longer valid when it signed.
        case expiredLeaf
    }

    let rootPEM: String
    let rootDER: [UInt8]
    private let key: P256.Signing.PrivateKey
    private let foreignKey = P256.Signing.PrivateKey()
    private let header: [UInt8]
    private let expiredHeader: [UInt8]

    private static let intermediateMarker: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 2, 1]
    private static let leafMarker: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 11, 1]

    init() throws {
        let root = try Authority(
            name: try DistinguishedName {
                CommonName("Simulated Apple Root CA - G3")
                OrganizationName("storesim")
            }, key: Certificate.PrivateKey(P384.Signing.PrivateKey()))
        let intermediate = try root.intermediate(
            name: try DistinguishedName {
                CommonName("Simulated Worldwide Developer Relations Certification Authority")
                OrganizationName("storesim")
            }, key: Certificate.PrivateKey(P384.Signing.PrivateKey()),
            marker: Self.intermediateMarker)
        key = P256.Signing.PrivateKey()
        let leafName = try DistinguishedName {
            CommonName("Simulated ECC Mac App Store and iTunes Store Receipt Signing")
            OrganizationName("storesim")
        }
        let publicKey = Certificate.PublicKey(key.publicKey)
        let leaf = try intermediate.signer(
            name: leafName, publicKey: publicKey, marker: Self.leafMarker)
        let expired = try intermediate.signer(
            name: leafName, publicKey: publicKey, marker: Self.leafMarker,
            until: Date(timeIntervalSince1970: 978_307_200))
        rootPEM = try root.certificate.serializeAsPEM().pemString
        rootDER = try root.certificate.derBytes()
        let above = try [intermediate.certificate.derBytes(), rootDER]
        header = try Self.header([leaf.derBytes()] + above)
        expiredHeader = try Self.header([expired.derBytes()] + above)
    }

    private static func header(_ chain: [[UInt8]]) -> [UInt8] {
        let json = JSON.object(capacity: 3000) { json in
            json.member("alg", "ES256")
            json.array("x5c", plain: chain.map { Base64.padded($0) })
        }
        return Base64.url(json.bytes)
    }

    /// `header.payload.signature`, ready to stand between quotation marks.
    func sign(_ payload: JSON, flaw: Flaw = .none) throws -> [UInt8] {
        var text = flaw == .expiredLeaf ? expiredHeader : header
        text.append(UInt8(ascii: "."))
        text.append(contentsOf: Base64.url(payload.bytes))
        let signer = flaw == .foreignKey ? foreignKey : key
        let signature = try signer.signature(for: text)
        text.append(UInt8(ascii: "."))
        text.append(contentsOf: Base64.url(signature.rawRepresentation))
        return text
    }
}
