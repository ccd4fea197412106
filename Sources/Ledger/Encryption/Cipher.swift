import Renewal

/// What encrypts and decrypts with one key. This target knows no cryptography: it is handed in.
package struct SealingKey: Sendable {
    /// Tells the key, and nothing of it.
    package let id: KeyID
    private let work: Work

    private struct Work: Sendable {
        let seal: @Sendable ([UInt8], [UInt8]) throws -> [UInt8]
        let open: @Sendable ([UInt8], [UInt8]) throws -> [UInt8]
    }

    /// - Parameters:
    ///   - id: made from the key, so that it is the same wherever the key is.
    ///   - seal: encrypts bytes for a place, which is part of what is authenticated.
    ///   - open: decrypts for that place alone; throws for any other, and for what was altered.
    package init(
        id: KeyID, seal: @escaping @Sendable (_ clear: [UInt8], _ place: [UInt8]) throws -> [UInt8],
        open: @escaping @Sendable (_ sealed: [UInt8], _ place: [UInt8]) throws -> [UInt8]
    ) {
        self.id = id
        work = Work(seal: seal, open: open)
    }

    /// - Returns: nil where the machine has no random numbers.
    func seal(_ clear: [UInt8], for place: [UInt8]) -> [UInt8]? { try? work.seal(clear, place) }

    /// - Returns: nil for what was altered, or encrypted for another place or with another key.
    func open(_ sealed: [UInt8], for place: [UInt8]) -> [UInt8]? { try? work.open(sealed, place) }
}

/// The name of a key, in bytes; written in hexadecimal.
package struct KeyID: Hashable, Sendable, CustomStringConvertible {
    package let bytes: [UInt8]

    package init(bytes: [UInt8]) { self.bytes = bytes }

    package var description: String { bytes.hexDigits }
}

/// The keys of the configuration, and what is done with them.
package struct Cipher: Sendable {
    /// The newest first.
    package let keys: [SealingKey]
    /// Whether the newest encrypts what is written; otherwise it is written in clear, and what is
    /// encrypted can be read.
    package let encrypts: Bool
    /// Makes a data key of 32 random bytes.
    let random: Random
    /// Makes what encrypts with the bytes of a data key.
    let dataKey: DataKey

    struct Random: Sendable { let make: @Sendable () -> [UInt8] }
    struct DataKey: Sendable { let make: @Sendable ([UInt8]) -> SealingKey }

    package init(
        keys: [SealingKey], encrypts: Bool, random: @escaping @Sendable () -> [UInt8],
        dataKey: @escaping @Sendable (_ bytes: [UInt8]) -> SealingKey
    ) {
        self.keys = keys
        self.encrypts = encrypts
        self.random = Random(make: random)
        self.dataKey = DataKey(make: dataKey)
    }

    /// What new data keys are encrypted with; nil where all is written in clear.
    package var newest: SealingKey? { encrypts ? keys.first : nil }

    func key(_ id: KeyID) -> SealingKey? { keys.first { $0.id == id } }
}

/// What something encrypted is, and of which purchase: it can be read there and nowhere else.
enum SealedPlace {
    /// The token as it was submitted.
    case token(purchase: Int64)
    /// What the store has named since.
    case name(purchase: Int64)
    /// The answers of one check, with their digests.
    case answers(purchase: Int64, digests: [String])

    var bytes: [UInt8] {
        switch self {
        case .token(let id): Array("renewald token \(id)".utf8)
        case .name(let id): Array("renewald asked_with \(id)".utf8)
        case .answers(let id, let digests):
            Array("renewald answers \(id) \(digests.joined(separator: " "))".utf8)
        }
    }
}
