import Stores
import Synchronization

/// What several apps have in common is made once: a key and a chain of certificates take kilobytes
/// each, and a publisher has one account for a thousand apps.
final class SharedParts: Sendable {
    private let verifiers = Mutex<[[[UInt8]]: AppleVerifier]>([:])
    private let accounts = Mutex<[Secret: GoogleServiceAccount]>([:])

    /// Of the trusted certificates in DER.
    func verifier(_ roots: [[UInt8]]) throws(CredentialFault) -> AppleVerifier {
        if let known = verifiers.withLock({ $0[roots] }) { return known }
        let made = try AppleVerifier(roots: roots)
        verifiers.withLock { $0[roots] = made }
        return made
    }

    /// Of a service account's key file.
    func account(_ file: Secret) throws(CredentialFault) -> GoogleServiceAccount {
        if let known = accounts.withLock({ $0[file] }) { return known }
        let made = try GoogleServiceAccount(json: file)
        accounts.withLock { $0[file] = made }
        return made
    }
}
