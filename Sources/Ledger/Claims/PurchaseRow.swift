import Postgres
import Renewal

extension PostgresRow {
    /// A purchase from the columns that all claims and books share.
    func purchase(of app: AppKey) throws(PostgresError) -> Purchase {
        Purchase(
            id: try int64("id"), userID: try text("user_id"), app: app, token: try text("token"),
            storeUserID: try optionalText("store_user_id"), createdAt: try instant("created_at"),
            isClaimedByOthers: try bool("claimed_by_others"),
            claimant: try optionalText("claimed_by"), facts: try facts())
    }

    func claim(of app: AppKey) throws(PostgresError) -> Claim {
        var purchase = try purchase(of: app)
        purchase.claimedAt = try optionalInstant("handed_in_at")
        purchase.claimants = try texts("claimants")
        for (text, heardAt) in zip(try texts("clues"), try optionalInt64s("clue_times")) {
            guard let clue = Clue(text: text), let heardAt else { continue }
            purchase.clues.insert(clue)
            purchase.cluesHeardAt[clue] = Timestamp(microsecondsSinceEpoch: heardAt)
        }
        var claim = Claim(
            purchase: purchase, shard: try int16("shard"), lane: try int32("lane"),
            dueAt: try instant("due_at"), version: try int64("version"),
            attempts: Int(try int16("attempts")), crashes: Int(try int16("crashes")),
            checkedAt: try optionalInstant("checked_at"), problem: try optionalText("problem"),
            claimedAt: try instant("claimed_at"))
        claim.statedAt = try optionalInstant("newest_stated_at")
        if let since = try optionalInstant("in_vain_since") {
            claim.inVain = Vain(since: since, lastAskedAt: try instant("in_vain_at"))
        }
        return claim
    }

    func instant(_ column: String) throws(PostgresError) -> Timestamp {
        Timestamp(microsecondsSinceEpoch: try timestamp(column))
    }

    func optionalInstant(_ column: String) throws(PostgresError) -> Timestamp? {
        try optionalTimestamp(column).map(Timestamp.init(microsecondsSinceEpoch:))
    }

    private func facts() throws(PostgresError) -> Facts {
        var facts = Facts(product: try text("product"))
        facts.environment = try optionalWord("environment")
        facts.kind = try optionalWord("kind")
        facts.state = try word("state")
        facts.access = try word("access")
        facts.paidThrough = try optionalInstant("paid_through")
        facts.expiresAt = try optionalInstant("expires_at")
        facts.autoRenew = try optionalBool("auto_renew")
        facts.orderID = try optionalText("order_id")
        facts.originalID = try optionalText("original_id")
        facts.period = try optionalText("period")
        facts.phase = try optionalWord("phase")
        facts.group = try optionalText("subscription_group")
        facts.usedIntroductory = try optionalBool("used_introductory")
        facts.statedAt = try optionalInstant("stated_at")
        facts.lapse = try optionalWord("lapse")
        facts.signals = Set(try texts("signals").compactMap(Signal.init(rawValue:)))
        if let doubt: Doubt = try optionalWord("doubt") {
            facts.doubt = PendingDoubt(doubt: doubt, since: try instant("doubt_since"))
        }
        facts.holdings = try holdings()
        facts.accountToken = try optionalText("account_token")
        facts.ownership = try optionalWord("ownership")
        return facts
    }

    private func holdings() throws(PostgresError) -> [Holding] {
        let entitlements: [EntitlementID] = try texts("holding_entitlements")
        guard !entitlements.isEmpty else { return [] }
        let products: [ProductID] = try texts("holding_products")
        let ends = try optionalInt64s("holding_ends")
        guard products.count == entitlements.count, ends.count == entitlements.count else {
            throw .decoding(column: "holding_ends")
        }
        return entitlements.indices.map { index in
            Holding(
                entitlement: entitlements[index], product: products[index],
                expiresAt: ends[index].map(Timestamp.init(microsecondsSinceEpoch:)))
        }
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

/// `{"a","b"}`: an array within an array, which `unnest` would flatten, goes as its text.
func arrayLiteral(_ texts: [String]) -> String {
    let quoted = texts.map { text in
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
