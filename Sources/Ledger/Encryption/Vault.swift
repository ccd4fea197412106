import Postgres
import Renewal
import Synchronization

/// Remembers the keys of a ledger: those of the configuration, data keys that were opened, and the
/// one that is written with.
final class Vault: Sendable {
    private struct State {
        var cipher: Cipher?
        var opened: [Int32: SealingKey] = [:]
        var current: Current?
    }

    private struct Current {
        let number: Int32
        let key: SealingKey
        /// Of the configuration, that it is kept with.
        let owner: KeyID
        /// Messages that it may still encrypt here.
        var left: Int64
    }

    private let state = Mutex(State())

    /// Messages of one data key at most. Their nonces are random, of 96 bits: NIST SP 800-38D,
    /// section 8.3, allows 2^32 of one key; half as many, so that none is near it.
    static let messageLimit: Int64 = 1 << 31
    /// Messages that a process takes leave for at once.
    static let messageBlock: Int64 = 1 << 20

    var cipher: Cipher? { state.withLock { $0.cipher } }

    func use(_ cipher: Cipher?) {
        state.withLock { $0 = State(cipher: cipher) }
    }

    /// What can be encrypted with at once, `messages` times; nil where a key must be taken first.
    func sealer(for messages: Int64, owner: KeyID) -> Sealer? {
        state.withLock { state in
            guard var current = state.current, current.owner == owner, current.left >= messages
            else { return nil }
            current.left -= messages
            state.current = current
            return Sealer(number: current.number, key: current.key)
        }
    }

    func take(_ number: Int32, _ key: SealingKey, of owner: KeyID, for messages: Int64) {
        state.withLock { state in
            state.current = Current(number: number, key: key, owner: owner, left: messages)
            state.opened[number] = key
        }
    }

    /// The data key has been retired, or may have been.
    func forgetCurrent() { state.withLock { $0.current = nil } }

    func opened(_ numbers: Set<Int32>) -> [Int32: SealingKey] {
        state.withLock { state in state.opened.filter { numbers.contains($0.key) } }
    }

    /// Data keys that are remembered: a rekey makes new ones.
    private static let memory = 4096

    func remember(_ keys: [Int32: SealingKey]) {
        state.withLock { state in
            if state.opened.count + keys.count > Self.memory { state.opened = [:] }
            state.opened.merge(keys) { _, new in new }
        }
    }
}

/// Encrypts with a data key.
struct Sealer: Sendable {
    let number: Int32
    fileprivate let key: SealingKey

    /// The first byte of all that is encrypted: another format would have another.
    fileprivate static let format: UInt8 = 1
    /// Format and number of the data key.
    fileprivate static let headBytes = 5

    /// - Returns: format, number of the data key, nonce, cipher text and tag.
    /// - Throws: `.undecodable` on a machine that cannot encrypt: nothing is written in clear for
    ///   that.
    func seal(_ clear: [UInt8], _ place: SealedPlace) throws(LedgerError) -> [UInt8] {
        guard let sealed = key.seal(clear, for: place.bytes) else {
            throw .undecodable(what: "it cannot be encrypted")
        }
        let number = UInt32(bitPattern: number)
        let digits = stride(from: 24, through: 0, by: -8).map { shift in
            UInt8(truncatingIfNeeded: number >> UInt32(shift))
        }
        return [Self.format] + digits + sealed
    }

    /// Which data key has encrypted it; nil for what is none of ours.
    static func number(of sealed: [UInt8]) -> Int32? {
        guard sealed.count > headBytes, sealed[0] == format else { return nil }
        let number = sealed[1..<headBytes].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        return Int32(bitPattern: number)
    }
}

/// The data keys that some rows were encrypted with.
struct Seals: Sendable {
    fileprivate var keys: [Int32: SealingKey] = [:]
    /// Those that cannot be opened, and what lacks, in words.
    fileprivate var missing: [Int32: String] = [:]

    /// - Returns: nil for what was altered, or belongs to another place.
    func open(_ sealed: [UInt8], _ place: SealedPlace) -> [UInt8]? {
        guard let number = Sealer.number(of: sealed) else { return nil }
        return keys[number]?.open(Array(sealed[Sealer.headBytes...]), for: place.bytes)
    }

    func text(_ sealed: [UInt8], _ place: SealedPlace) -> String? {
        open(sealed, place).flatMap { String(validating: $0, as: UTF8.self) }
    }

    /// Which key lacks to read it, in words; nil where none does.
    func lack(for sealed: [UInt8]?) -> String? {
        sealed.flatMap(Sealer.number).flatMap { missing[$0] }
    }
}

extension PostgresLedger {
    /// The keys of the configuration from now on; nil for none.
    package func use(_ cipher: Cipher?) { vault.use(cipher) }

    /// The data keys that these rows were encrypted with, by columns that may be null.
    func seals(
        of rows: some Sequence<PostgresRow>, in columns: [String],
        on connection: PostgresConnection? = nil
    ) async throws(PostgresError) -> Seals {
        var numbers: Set<Int32> = []
        for row in rows {
            for column in columns {
                guard let sealed = try row.optionalBytes(column),
                    let number = Sealer.number(of: sealed)
                else { continue }
                numbers.insert(number)
            }
        }
        var seals = Seals()
        guard !numbers.isEmpty else { return seals }
        seals.keys = vault.opened(numbers)
        let unknown = numbers.subtracting(seals.keys.keys).sorted()
        guard !unknown.isEmpty else { return seals }
        for number in unknown { seals.missing[number] = "data key \(number)" }
        let cipher = vault.cipher
        var found: [Int32: SealingKey] = [:]
        for row in try await (connection ?? reads).query(SQL.dataKeys(.int32s(unknown))).rows {
            let number = try row.int32("id")
            let owner = KeyID(bytes: try row.bytes("key_id"))
            if let key = cipher?.open(try row.bytes("wrapped"), of: owner) {
                seals.missing[number] = nil
                found[number] = key
            } else {
                seals.missing[number] =
                    cipher?.key(owner) == nil
                    ? "key \(owner)" : "data key \(number) as it was before it was altered"
            }
        }
        vault.remember(found)
        seals.keys.merge(found) { known, _ in known }
        return seals
    }

    /// What encrypts so many messages; nil where all is written in clear.
    func sealer(for messages: Int) async throws(LedgerError) -> Sealer? {
        guard let cipher = vault.cipher, let newest = cipher.newest else { return nil }
        let messages = Int64(messages)
        if let sealer = vault.sealer(for: messages, owner: newest.id) { return sealer }
        let block = max(Vault.messageBlock, messages)
        return try await attempt {
            let take = SQL.takeDataKey(
                .bytes(newest.id.bytes), .int64(block), .int64(Vault.messageLimit))
            for _ in 0..<Self.dataKeyRounds {
                if let row = try await self.writes.query(take).rows.first {
                    guard let key = cipher.open(try row.bytes("wrapped"), of: newest.id) else {
                        throw LedgerError.undecodable(
                            what: "data key \(try row.int32("id")) is not what key \(newest.id) "
                                + "has encrypted")
                    }
                    self.vault.take(try row.int32("id"), key, of: newest.id, for: block)
                    return self.vault.sealer(for: messages, owner: newest.id)
                }
                guard let wrapped = newest.seal(cipher.random.make(), for: Cipher.dataKeyPlace)
                else { throw LedgerError.undecodable(what: "a data key cannot be made") }
                _ = try await self.writes.query(
                    SQL.keepDataKey(.bytes(newest.id.bytes), .bytes(wrapped)))
            }
            throw LedgerError.noLongerValid(what: "the data keys are being retired")
        }
    }

    /// Times that a data key is made and retired by another before it can be used.
    private static let dataKeyRounds = 3
}

extension Cipher {
    fileprivate static let dataKeyPlace = Array("renewald data key".utf8)

    /// A data key as it is kept; nil where its key is not configured, or where it was altered.
    fileprivate func open(_ wrapped: [UInt8], of owner: KeyID) -> SealingKey? {
        key(owner)?.open(wrapped, for: Self.dataKeyPlace).map(dataKey.make)
    }
}
