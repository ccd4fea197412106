import Crypto
import Foundation
package import SwiftASN1
import X509

/// A chain of certificates like Apple's: what signs the fixtures.
package struct AppleAuthority: Sendable {
    /// What is unusual about a chain.
    package struct Variant: Sendable {
        package var leafPurpose: ASN1ObjectIdentifier
        package var intermediatePurpose: ASN1ObjectIdentifier
        package var intermediateIsAuthority: Bool
        package var leafNotBefore: String
        package var leafNotAfter: String

        /// Of other certificates of Apple's than those of the App Store.
        package static let otherLeafPurpose: ASN1ObjectIdentifier = [
            1, 2, 840, 113635, 100, 6, 11, 2,
        ]
        package static let otherIntermediatePurpose: ASN1ObjectIdentifier = [
            1, 2, 840, 113635, 100, 6, 2, 2,
        ]

        package init(
            leafPurpose: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 11, 1],
            intermediatePurpose: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 2, 1],
            intermediateIsAuthority: Bool = true,
            leafNotBefore: String = "2025-09-19T00:00:00Z",
            leafNotAfter: String = "2035-10-13T00:00:00Z"
        ) {
            self.leafPurpose = leafPurpose
            self.intermediatePurpose = intermediatePurpose
            self.intermediateIsAuthority = intermediateIsAuthority
            self.leafNotBefore = leafNotBefore
            self.leafNotAfter = leafNotAfter
        }
    }

    package let root: [UInt8]
    package let intermediate: [UInt8]
    package let leaf: [UInt8]
    private let key: P256.Signing.PrivateKey
    private let rootKey: P384.Signing.PrivateKey

    /// One for all tests: its root is the one that they trust.
    package static let trusted = Result { try AppleAuthority() }

    /// - Parameters:
    ///   - variant: what to do differently.
    ///   - other: whose root is to sign; nil makes a root of its own, always of the same name.
    /// - Throws: never, with keys that have just been made.
    package init(_ variant: Variant = Variant(), under other: AppleAuthority? = nil) throws {
        rootKey = other?.rootKey ?? P384.Signing.PrivateKey()
        let intermediateKey = P384.Signing.PrivateKey()
        key = P256.Signing.PrivateKey()
        let rootName = try DistinguishedName { CommonName("Test Root CA - G3") }
        let middleName = try DistinguishedName { CommonName("Test Developer Relations") }
        let leafName = try DistinguishedName { CommonName("Test Receipt Signing") }
        let rootCertificate = try Self.certificate(
            Certificate.PublicKey(rootKey.publicKey), named: rootName, by: rootName, rootKey,
            from: "2014-04-30T00:00:00Z", to: "2039-04-30T00:00:00Z",
            BasicConstraints.isCertificateAuthority(maxPathLength: nil), purpose: nil)
        let middle = try Self.certificate(
            Certificate.PublicKey(intermediateKey.publicKey), named: middleName, by: rootName,
            rootKey, from: "2021-03-17T00:00:00Z", to: "2036-03-19T00:00:00Z",
            variant.intermediateIsAuthority
                ? .isCertificateAuthority(maxPathLength: 0) : .notCertificateAuthority,
            purpose: variant.intermediatePurpose)
        let end = try Self.certificate(
            Certificate.PublicKey(key.publicKey), named: leafName, by: middleName,
            intermediateKey, from: variant.leafNotBefore, to: variant.leafNotAfter,
            .notCertificateAuthority, purpose: variant.leafPurpose)
        root = try other?.root ?? Self.der(rootCertificate)
        intermediate = try Self.der(middle)
        leaf = try Self.der(end)
    }

    private static func certificate(
        _ key: Certificate.PublicKey, named subject: DistinguishedName,
        by issuer: DistinguishedName, _ issuerKey: P384.Signing.PrivateKey, from: String,
        to: String, _ constraints: BasicConstraints, purpose: ASN1ObjectIdentifier?
    ) throws -> Certificate {
        var extensions = try Certificate.Extensions {
            Critical(constraints)
            Critical(KeyUsage(digitalSignature: purpose != nil, keyCertSign: true))
        }
        if let purpose {
            try extensions.append(
                Certificate.Extension(oid: purpose, critical: false, value: [0x05, 0x00]))
        }
        return try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: key,
            notValidBefore: date(from), notValidAfter: date(to), issuer: issuer,
            subject: subject, signatureAlgorithm: .ecdsaWithSHA384, extensions: extensions,
            issuerPrivateKey: Certificate.PrivateKey(issuerKey))
    }

    private static func date(_ text: String) throws -> Date {
        try Date(text, strategy: .iso8601)
    }

    private static func der(_ certificate: Certificate) throws -> [UInt8] {
        var serializer = DER.Serializer()
        try serializer.serialize(certificate)
        return serializer.serializedBytes
    }

    /// Signs a payload.
    ///
    /// - Parameters:
    ///   - payload: JSON.
    ///   - algorithm: what the header says.
    ///   - chain: the certificates of the header, in DER; nil is the usual three.
    ///   - usesDER: whether the signature is written as DER instead of raw.
    /// - Returns: the compact form.
    /// - Throws: never, with a key that has just been made.
    package func sign(
        _ payload: some Sequence<UInt8>, algorithm: String = "ES256", chain: [[UInt8]]? = nil,
        usesDER: Bool = false
    ) throws -> String {
        let certificates = (chain ?? [leaf, intermediate, root]).map {
            "\"" + Data($0).base64EncodedString() + "\""
        }
        let header =
            #"{"alg":"\#(algorithm)","x5c":[\#(certificates.joined(separator: ","))]}"#
        let signed =
            Self.base64URL(Data(header.utf8)) + "." + Self.base64URL(Data(payload))
        let signature = try key.signature(for: Data(signed.utf8))
        let bytes = usesDER ? signature.derRepresentation : signature.rawRepresentation
        return signed + "." + Self.base64URL(bytes)
    }

    private static func base64URL(_ data: Data) -> String {
        data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
            .replacing("=", with: "")
    }
}
