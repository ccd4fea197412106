import FoundationEssentials
package import Renewal
import SwiftASN1
import X509

/// A file of certificates: one in DER, or any number in PEM.
package struct CertificateFile: Sendable {
    /// Each of them in DER, in the order of the file.
    package let inDER: [[UInt8]]
    /// When each of them ends.
    package let ends: [Timestamp]

    /// - Parameter bytes: the whole file.
    /// - Throws: when it holds anything else, or no certificate.
    package init(_ bytes: [UInt8]) throws(CredentialFault) {
        do {
            inDER = try Self.documents(bytes)
            ends = try inDER.map { der in
                let seconds = try Certificate(derEncoded: der).notValidAfter.timeIntervalSince1970
                return Timestamp(microsecondsSinceEpoch: Int64(seconds) * 1_000_000)
            }
        } catch {
            throw CredentialFault(field: "it", sentence: "is not a certificate in PEM or DER")
        }
    }

    private static func documents(_ bytes: [UInt8]) throws -> [[UInt8]] {
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.contains("-----BEGIN") else { return [bytes] }
        let documents = try PEMDocument.parseMultiple(pemString: text)
            .filter { $0.discriminator == "CERTIFICATE" }
        guard !documents.isEmpty else {
            throw CredentialFault(field: "it", sentence: "holds no certificate")
        }
        return documents.map(\.derBytes)
    }
}
