import FoundationEssentials
package import Renewal
import SwiftASN1
import X509

/// A file of certificates, looked at before it is used.
package enum CertificateFile {
    /// Reads one certificate in DER, or any number in PEM.
    ///
    /// - Parameter bytes: the whole file.
    /// - Returns: when each of them ends, in the order of the file.
    /// - Throws: when it is neither.
    package static func ends(in bytes: [UInt8]) throws(CredentialFault) -> [Timestamp] {
        do {
            return try certificates(bytes).map { certificate in
                let seconds = certificate.notValidAfter.timeIntervalSince1970
                return Timestamp(microsecondsSinceEpoch: Int64(seconds) * 1_000_000)
            }
        } catch {
            throw CredentialFault(field: "it", sentence: "is not a certificate in PEM or DER")
        }
    }

    private static func certificates(_ bytes: [UInt8]) throws -> [Certificate] {
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.contains("-----BEGIN") else { return [try Certificate(derEncoded: bytes)] }
        let documents = try PEMDocument.parseMultiple(pemString: text)
            .filter { $0.discriminator == "CERTIFICATE" }
        guard !documents.isEmpty else {
            throw CredentialFault(field: "it", sentence: "holds no certificate")
        }
        return try documents.map { try Certificate(pemDocument: $0) }
    }
}
