import Postgres
import Renewal

// Rows of purchases as values: who and what it is, and its place in the schedule. What is known of
// it, the facts, is read in `PurchaseFactColumns.swift`.

extension PostgresRow {
    /// A purchase from the columns that all claims and books share.
    func purchase(of app: AppKey, _ seals: Seals) throws(PostgresError) -> Purchase {
        Purchase(
            id: try int64("id"), userID: try text("user_id"), app: app, token: try token(seals),
            storeUserID: try optionalText("store_user_id"), createdAt: try instant("created_at"),
            isClaimedByOthers: try bool("claimed_by_others"),
            claimant: try optionalText("claimed_by"), facts: try facts())
    }

    /// The column that holds an encrypted token.
    static let sealedToken = "sealed_token"

    /// What the store is asked with, in clear.
    func token(_ seals: Seals) throws(PostgresError) -> StoreToken {
        guard let token = try decipheredToken(seals) else {
            throw .decoding(column: Self.sealedToken)
        }
        return token
    }

    /// - Returns: nil for what was altered, or belongs to another purchase, or whose key lacks.
    func decipheredToken(_ seals: Seals) throws(PostgresError) -> StoreToken? {
        guard let sealed = try optionalBytes(Self.sealedToken) else { return try text("token") }
        let id = try int64("sealed_for")
        let place = try bool("is_named") ? SealedPlace.name(purchase: id) : .token(purchase: id)
        return seals.text(sealed, place).map(StoreToken.init)
    }

    func claim(of app: AppKey, _ seals: Seals) throws(PostgresError) -> Claim {
        var purchase = try purchase(of: app, seals)
        purchase.claimedAt = try optionalInstant("handed_in_at")
        purchase.claimants = try texts("claimants")
        purchase.forgetClaimant(unlessAmong: purchase.claimants, limit: Self.claimantLimit)
        for text in try texts("clues") { purchase.hear(of: text) }
        var claim = Claim(
            purchase: purchase, shard: try int16("shard"), lane: try int32("lane"),
            dueAt: try instant("due_at"), version: try int64("version"),
            attempts: Int(try int16("attempts")), crashes: Int(try int16("crashes")),
            checkedAt: try optionalInstant("checked_at"), problem: try optionalText("problem"),
            claimedAt: try instant("claimed_at"))
        claim.statedAt = try optionalInstant("newest_stated_at")
        claim.heardMark = try optionalInt64("heard_mark")
        claim.lacksSeal = try bool("lacks_seal")
        if let since = try optionalInstant("in_vain_since") {
            claim.inVain = Vain(since: since, lastAskedAt: try instant("in_vain_at"))
        }
        return claim
    }

    /// How many `claim_columns.sql` reads.
    private static let claimantLimit = 200

    func instant(_ column: String) throws(PostgresError) -> Timestamp {
        Timestamp(microsecondsSinceEpoch: try timestamp(column))
    }

    func optionalInstant(_ column: String) throws(PostgresError) -> Timestamp? {
        try optionalTimestamp(column).map(Timestamp.init(microsecondsSinceEpoch:))
    }

    /// One of our own words; another one is a fault of the database's content.
    func word<Word: RawRepresentable<String>>(
        _ column: String
    ) throws(PostgresError) -> Word {
        guard let word = Word(rawValue: try text(column)) else {
            throw .decoding(column: column)
        }
        return word
    }

    func optionalWord<Word: RawRepresentable<String>>(
        _ column: String
    ) throws(PostgresError) -> Word? {
        guard let text = try optionalText(column) else { return nil }
        guard let word = Word(rawValue: text) else { throw .decoding(column: column) }
        return word
    }
}

extension Purchase {
    /// Takes in a clue as `claim_columns.sql` writes it: `SETTLED MICROSECONDS CLUE`.
    fileprivate mutating func hear(of text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: " "), maxSplits: 2).map { part in
            String(Substring(part))
        }
        guard parts.count == 3, let heardAt = Int64(parts[1]), let clue = Clue(text: parts[2])
        else { return }
        if parts[0] == "t" {
            if case .refund(let order) = clue { knownRefunds.insert(order) }
            return
        }
        clues.insert(clue)
        cluesHeardAt[clue] = Timestamp(microsecondsSinceEpoch: heardAt)
    }
}

extension WorkerID {
    var uuid: UUIDBytes {
        var bytes: [UInt8] = []
        for half in [high, low] {
            for shift in stride(from: 56, through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: half >> UInt64(shift)))
            }
        }
        return UUIDBytes(bytes: bytes) ?? .random()
    }
}

extension PostgresValue {
    static func instants(_ instants: [Timestamp]) -> PostgresValue {
        .timestamps(instants.map(\.microsecondsSinceEpoch))
    }

    static func optionalInstants(_ instants: [Timestamp?]) -> PostgresValue {
        .optionalTimestamps(instants.map { $0?.microsecondsSinceEpoch })
    }
}

/// `{"a","b"}`: an array within an array, which `unnest` would flatten, goes as its text.
func arrayLiteral(_ texts: [String]) -> String {
    let quoted = texts.map { text in
        let isPlain = text.utf8.allSatisfy { $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
        if isPlain { return "\"" + text + "\"" }
        var quoted = "\""
        for character in text.unicodeScalars {
            if character == "\"" || character == "\\" { quoted.append("\\") }
            quoted.unicodeScalars.append(character)
        }
        return quoted + "\""
    }
    return "{" + quoted.joined(separator: ",") + "}"
}

/// Null is a place without a number.
func arrayLiteral(_ numbers: [Int64?]) -> String {
    "{" + numbers.map { $0.map(String.init) ?? "NULL" }.joined(separator: ",") + "}"
}
