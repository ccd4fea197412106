import Crypto
import CryptoExtras
import FoundationEssentials

/// The RSA keys of a simulator: Google's service account, and the chain that signs legacy receipts.
/// They are most of the time that a start takes, so they can be kept in a file.
struct RSAKeys: Sendable {
    let google: _RSA.Signing.PrivateKey
    let receiptRoot: _RSA.Signing.PrivateKey
    let receiptIntermediate: _RSA.Signing.PrivateKey
    let receiptLeaf: _RSA.Signing.PrivateKey

    private static let count = 4

    private init(_ keys: [_RSA.Signing.PrivateKey]) {
        google = keys[0]
        receiptRoot = keys[1]
        receiptIntermediate = keys[2]
        receiptLeaf = keys[3]
    }

    /// New ones.
    init() throws {
        self.init(
            try (0..<Self.count).map { _ in try _RSA.Signing.PrivateKey(keySize: .bits2048) })
    }

    /// Those in `file`, PEM one after the other; new ones are written where there is no file. Of
    /// several simulators that make it at once, the first to be ready gives its keys to all.
    ///
    /// - Throws: `RSAKeysError` when the file is something else; `CocoaError` when it can be
    ///   neither read nor made.
    init(file: String) throws {
        if !FileManager.default.fileExists(atPath: file) {
            try RSAKeys().write(to: file)
        }
        let end = "-----END PRIVATE KEY-----"
        let text = String(decoding: try Data(contentsOf: URL(fileURLWithPath: file)), as: UTF8.self)
        let keys = text.components(separatedBy: end).dropLast().map {
            try? _RSA.Signing.PrivateKey(pemRepresentation: $0 + end)
        }
        let readable = keys.compactMap { $0 }
        guard keys.count == Self.count, readable.count == Self.count else {
            throw RSAKeysError(file: file)
        }
        self.init(readable)
    }

    /// A whole file or none: a link never replaces one that another has made meanwhile.
    private func write(to file: String) throws {
        let own = "\(file).\(UUID().uuidString)"
        let text = [google, receiptRoot, receiptIntermediate, receiptLeaf]
            .map { $0.pkcs8PEMRepresentation + "\n" }.joined()
        let isMade = FileManager.default.createFile(
            atPath: own, contents: Data(text.utf8), attributes: [.posixPermissions: 0o600])
        guard isMade else { throw CocoaError(.fileWriteUnknown) }
        defer { try? FileManager.default.removeItem(atPath: own) }
        do {
            try FileManager.default.linkItem(atPath: own, toPath: file)
        } catch  where FileManager.default.fileExists(atPath: file) {
            return
        }
    }
}

/// A file of `--rsa-keys` that holds something else.
struct RSAKeysError: Error, CustomStringConvertible {
    let file: String

    var description: String {
        """
        \(file) does not hold the four RSA keys of a simulator: remove it, and the next start \
        makes it anew.
        """
    }
}
