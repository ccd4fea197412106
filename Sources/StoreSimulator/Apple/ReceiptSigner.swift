import Crypto
import CryptoExtras
import FoundationEssentials
import SwiftASN1
import X509

/// Signs legacy receipts as the App Store does: RSA, with a chain of three certificates that has
/// the shape of Apple's. It is another chain than that of the signed API answers.
struct ReceiptSigner: Sendable {
    let rootPEM: String
    let leafDER: [UInt8]
    private let chain: [[UInt8]]
    private let key: _RSA.Signing.PrivateKey

    private static let intermediateMarker: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 2, 1]
    private static let leafMarker: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 11, 1]

    init(_ keys: RSAKeys) throws {
        let root = try Authority(
            name: try DistinguishedName {
                CommonName("Simulated Apple Root CA")
                OrganizationName("storesim")
            }, key: Certificate.PrivateKey(keys.receiptRoot), algorithm: .sha256WithRSAEncryption)
        let intermediate = try root.intermediate(
            name: try DistinguishedName {
                CommonName("Simulated Worldwide Developer Relations Receipt Authority")
                OrganizationName("storesim")
            }, key: Certificate.PrivateKey(keys.receiptIntermediate),
            marker: Self.intermediateMarker)
        key = keys.receiptLeaf
        let leaf = try intermediate.signer(
            name: try DistinguishedName {
                CommonName("Simulated Mac App Store and iTunes Store Receipt Signing")
                OrganizationName("storesim")
            }, publicKey: Certificate.PublicKey(key.publicKey), marker: Self.leafMarker)
        rootPEM = try root.certificate.serializeAsPEM().pemString
        leafDER = try leaf.derBytes()
        chain = try [leafDER, intermediate.certificate.derBytes(), root.certificate.derBytes()]
    }

    /// The signature of a transaction receipt: version 3, RSA with SHA-1 over the version and the
    /// purchase info, then the certificate with its length.
    func transactionSignature(of info: [UInt8]) throws -> [UInt8] {
        let version: [UInt8] = [3]
        let digest = Insecure.SHA1.hash(data: version + info)
        let signature = try key.signature(for: digest, padding: .insecurePKCS1v1_5)
        let length = UInt32(leafDER.count)
        let lengthBytes = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: length >> $0) }
        return version + signature.rawRepresentation + lengthBytes + leafDER
    }

    func isTransactionSignature(_ blob: [UInt8], of info: [UInt8]) -> Bool {
        guard blob.count > 257, blob[0] == 3 else { return false }
        let digest = Insecure.SHA1.hash(data: [3] + info)
        let signature = _RSA.Signing.RSASignature(rawRepresentation: blob[1..<257])
        return key.publicKey.isValidSignature(signature, for: digest, padding: .insecurePKCS1v1_5)
    }
}

// PKCS #7.
extension ReceiptSigner {
    private static let data: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 7, 1]
    private static let signedData: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 7, 2]
    private static let sha256: ASN1ObjectIdentifier = [2, 16, 840, 1, 101, 3, 4, 2, 1]
    private static let rsaEncryption: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 1, 1]
    private static let context0 = ASN1Identifier(tagWithNumber: 0, tagClass: .contextSpecific)

    /// ContentInfo with SignedData around `payload`: one signer, SHA-256, no signed attributes.
    func sealed(_ payload: [UInt8]) throws -> [UInt8] {
        let signature = try key.signature(for: payload, padding: .insecurePKCS1v1_5)
        var serializer = DER.Serializer()
        try serializer.appendConstructedNode(identifier: .sequence) { info in
            try info.serialize(Self.signedData)
            try info.appendConstructedNode(identifier: Self.context0) { explicit in
                try explicit.appendConstructedNode(identifier: .sequence) { data in
                    try append(payload, Array(signature.rawRepresentation), to: &data)
                }
            }
        }
        return serializer.serializedBytes
    }

    private func append(
        _ payload: [UInt8], _ signature: [UInt8], to data: inout DER.Serializer
    ) throws {
        try data.serialize(1)
        try data.appendConstructedNode(identifier: .set) { set in
            try Self.append(algorithm: Self.sha256, to: &set)
        }
        try data.appendConstructedNode(identifier: .sequence) { content in
            try content.serialize(Self.data)
            try content.appendConstructedNode(identifier: Self.context0) { explicit in
                try explicit.serialize(ASN1OctetString(contentBytes: payload[...]))
            }
        }
        data.appendConstructedNode(identifier: Self.context0) { certificates in
            for certificate in chain { certificates.serializeRawBytes(certificate) }
        }
        let leaf = try Certificate(derEncoded: leafDER)
        try data.appendConstructedNode(identifier: .set) { signers in
            try signers.appendConstructedNode(identifier: .sequence) { signer in
                try signer.serialize(1)
                try signer.appendConstructedNode(identifier: .sequence) { name in
                    try name.serialize(leaf.issuer)
                    try name.serialize(leaf.serialNumber.bytes)
                }
                try Self.append(algorithm: Self.sha256, to: &signer)
                try Self.append(algorithm: Self.rsaEncryption, to: &signer)
                try signer.serialize(ASN1OctetString(contentBytes: signature[...]))
            }
        }
    }

    private static func append(
        algorithm: ASN1ObjectIdentifier, to serializer: inout DER.Serializer
    ) throws {
        try serializer.appendConstructedNode(identifier: .sequence) { sequence in
            try sequence.serialize(algorithm)
            try sequence.serialize(ASN1Null())
        }
    }

    /// What a receipt that came from a client holds, and whether this signer signed it.
    struct Opened {
        var payload: [UInt8]
        var isAuthentic: Bool
    }

    /// Nil when the bytes are no PKCS #7 with a payload.
    func open(_ bytes: [UInt8]) -> Opened? {
        guard let info = (try? DER.parse(bytes))?.children, info.count == 2,
            let data = info[1].children?.first?.children, data.count >= 4,
            let content = data[2].children, content.count == 2,
            let payload = content[1].children?.first?.primitive,
            let signer = data.last?.children?.first?.children,
            let signature = signer.last?.primitive
        else { return nil }
        let isAuthentic = key.publicKey.isValidSignature(
            _RSA.Signing.RSASignature(rawRepresentation: signature), for: payload,
            padding: .insecurePKCS1v1_5)
        return Opened(payload: payload, isAuthentic: isAuthentic)
    }
}

extension ASN1Node {
    /// The nodes inside; nil for a primitive one.
    var children: [ASN1Node]? {
        guard case .constructed(let nodes) = content else { return nil }
        return Array(nodes)
    }

    /// The content of a primitive node; nil for a constructed one.
    var primitive: [UInt8]? {
        guard case .primitive(let bytes) = content else { return nil }
        return Array(bytes)
    }
}
