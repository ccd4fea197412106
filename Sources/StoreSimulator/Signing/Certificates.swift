import Crypto
import FoundationEssentials
import SwiftASN1
import X509

/// A certificate authority that issues what one needs to play a store on loopback.
///
/// All certificates are valid from 2000 to 2049: the simulated clock moves freely, and a client
/// that shares it must find them valid whatever year it is told.
struct Authority {
    let certificate: Certificate
    let key: Certificate.PrivateKey
    /// What this authority signs with; it must fit its key.
    private let algorithm: Certificate.SignatureAlgorithm

    static let begin = Date(timeIntervalSince1970: 946_684_800)
    static let end = Date(timeIntervalSince1970: 2_493_072_000)

    /// A self-signed root.
    init(
        name: DistinguishedName, key: Certificate.PrivateKey,
        algorithm: Certificate.SignatureAlgorithm = .ecdsaWithSHA384
    ) throws {
        certificate = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: key.publicKey,
            notValidBefore: Self.begin, notValidAfter: Self.end, issuer: name, subject: name,
            signatureAlgorithm: algorithm,
            extensions: Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
                Critical(KeyUsage(keyCertSign: true, cRLSign: true))
                SubjectKeyIdentifier(hash: key.publicKey)
            }, issuerPrivateKey: key)
        self.key = key
        self.algorithm = algorithm
    }

    private init(
        certificate: Certificate, key: Certificate.PrivateKey,
        algorithm: Certificate.SignatureAlgorithm
    ) {
        self.certificate = certificate
        self.key = key
        self.algorithm = algorithm
    }

    /// An authority under this one, which carries the extension that Apple's intermediate has.
    func intermediate(
        name: DistinguishedName, key: Certificate.PrivateKey, marker: ASN1ObjectIdentifier
    ) throws -> Authority {
        let child = try issue(
            name: name, publicKey: key.publicKey,
            extensions: Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
                Critical(KeyUsage(keyCertSign: true, cRLSign: true))
                SubjectKeyIdentifier(hash: key.publicKey)
                try authorityKeyIdentifier()
                Self.marker(marker)
            })
        return Authority(certificate: child, key: key, algorithm: algorithm)
    }

    /// A certificate that signs receipts, with the extension that Apple's leaf has.
    func signer(
        name: DistinguishedName, publicKey: Certificate.PublicKey, marker: ASN1ObjectIdentifier,
        until end: Date = Authority.end
    ) throws -> Certificate {
        try issue(
            name: name, publicKey: publicKey, until: end,
            extensions: Certificate.Extensions {
                Critical(BasicConstraints.notCertificateAuthority)
                Critical(KeyUsage(digitalSignature: true))
                SubjectKeyIdentifier(hash: publicKey)
                try authorityKeyIdentifier()
                Self.marker(marker)
            })
    }

    /// A certificate for a server at 127.0.0.1, ::1 and `localhost`.
    func server(publicKey: Certificate.PublicKey) throws -> Certificate {
        let loopback6: [UInt8] = Array(repeating: 0, count: 15) + [1]
        return try issue(
            name: try DistinguishedName { CommonName("localhost") }, publicKey: publicKey,
            extensions: Certificate.Extensions {
                Critical(BasicConstraints.notCertificateAuthority)
                Critical(KeyUsage(digitalSignature: true))
                try ExtendedKeyUsage([.serverAuth])
                SubjectKeyIdentifier(hash: publicKey)
                try authorityKeyIdentifier()
                SubjectAlternativeNames([
                    .dnsName("localhost"),
                    .ipAddress(ASN1OctetString(contentBytes: [127, 0, 0, 1])),
                    .ipAddress(ASN1OctetString(contentBytes: loopback6[...])),
                ])
            })
    }

    private func issue(
        name: DistinguishedName, publicKey: Certificate.PublicKey, until end: Date = Authority.end,
        extensions: Certificate.Extensions
    ) throws -> Certificate {
        try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: publicKey,
            notValidBefore: Self.begin, notValidAfter: end, issuer: certificate.subject,
            subject: name, signatureAlgorithm: algorithm, extensions: extensions,
            issuerPrivateKey: key)
    }

    private func authorityKeyIdentifier() throws -> AuthorityKeyIdentifier {
        AuthorityKeyIdentifier(
            keyIdentifier: try certificate.extensions.subjectKeyIdentifier?.keyIdentifier)
    }

    /// An extension whose value is an ASN.1 NULL and whose presence is all it says.
    private static func marker(_ identifier: ASN1ObjectIdentifier) -> Certificate.Extension {
        Certificate.Extension(oid: identifier, critical: false, value: [5, 0])
    }
}

extension Certificate {
    func derBytes() throws -> [UInt8] {
        var serializer = DER.Serializer()
        try serializer.serialize(self)
        return serializer.serializedBytes
    }
}
