/// What Citus refuses of a statement that PostgreSQL takes. Debian has no Citus, so the texts are read;
/// `docs/scale.md` has what was tried.
enum CitusRules {
    /// What `distribute.sql` spreads over the servers.
    static let distributed = [
        "account", "purchase", "credential", "claimant", "schedule", "entitlement", "offer", "clue",
        "held_revocation", "observation", "evidence", "shadow_theirs", "shadow_difference",
        "every_shard",
    ]

    /// What grows with the purchases and is on one server all the same.
    static let growing = ["event", "token_key", "original_key", "order_key", "unclaimed_hint"]

    static let rule = TidyRule(name: "SQL on Citus") { file in
        guard file.path.hasSuffix(".sql"), file.isUnder(["Sources/Ledger/Queries"]),
            !file.text.contains("DO $$")
        else { return [] }
        let sql = file.lines.map { $0.prefix(before: "--") }.joined(separator: "\n")
        let parts = StatementRules.parts(of: sql).map(\.body)
        let last = sql[(parts.last?.endIndex ?? sql.startIndex)...]
        return (parts + [last]).flatMap { part in
            mistakes(in: part).map { mistake in
                (sql[..<part.startIndex].count { $0 == "\n" } + 1, mistake)
            }
        }
    }

    static func mistakes(in part: Substring) -> [String] {
        guard part.matches(of: #/renewald\.(\w+)/#).contains(where: { isDistributed($0.1) }) else {
            return []
        }
        var found: [String] = []
        if part.contains(#/\bSELECT\s+(FROM|WHERE|LIMIT)\b/#) {
            found.append("selects no column: SELECT 1")
        }
        if let insert = part.firstMatch(of: #/^\s*\)?\s*INSERT INTO renewald\.(\w+)\b/#),
            isDistributed(insert.1), let conflict = part.firstRange(of: "DO UPDATE"),
            changes(of: part[conflict.upperBound...]).contains(#/\b\w+\(/#)
        {
            found.append("computes in DO UPDATE SET: do it in what is inserted, as excluded.…")
        }
        if let update = part.firstMatch(of: #/^\s*\)?\s*UPDATE renewald\.(\w+)\b/#) {
            if isDistributed(update.1) { found += mistakes(inChanges: changes(of: part)) }
        } else if part.contains(#/^\s*\)?\s*SELECT\b/#) {
            found += mistakes(inSelect: part)
        }
        return found
    }

    /// Whether a table that is spread is joined with some rows of a list that a limit has cut.
    private static func limitsBeforeItJoins(_ select: Substring) -> Bool {
        select.matches(of: #/FROM (?=\(\s*SELECT)/#).contains { list in
            let inner = StatementRules.enclosed(in: select, from: list.range.upperBound)
            let isCut = inner.contains(#/\n    LIMIT\b[^)]*$/#)
            let rest = select[inner.endIndex...]
            return isCut
                && rest.matches(of: #/JOIN renewald\.(\w+)/#).contains {
                    isDistributed($0.1)
                }
        }
    }

    private static func isDistributed(_ table: Substring) -> Bool {
        distributed.contains(String(table))
    }

    /// What stands between SET and the next clause.
    private static func changes(of update: Substring) -> Substring {
        let start = update.firstRange(of: "SET")?.upperBound ?? update.startIndex
        let rest = update[start...]
        return rest[
            ..<(rest.firstMatch(of: #/\n\s*(FROM|WHERE)\b/#)?.range.lowerBound ?? rest.endIndex)]
    }

    private static func mistakes(inChanges changes: Substring) -> [String] {
        var found: [String] = []
        if changes.contains(#/\bshard = /#) {
            found.append("gives a row another shard: delete it, and insert it anew")
        }
        let computes = changes.contains(#/\b(CASE|coalesce|least|greatest)\b/#)
        if changes.contains(#/::\w+\[\]/#) || computes && changes.contains("now()") {
            found.append("computes with the time or casts a list: do it in a part before")
        }
        return found
    }

    private static func mistakes(inSelect part: Substring) -> [String] {
        var found: [String] = []
        let tables = part.matches(of: #/\b(?:FROM|JOIN)\s+renewald\.(\w+)/#).map(\.1)
        let spread = tables.filter { isDistributed($0) && $0 != "every_shard" }
        guard !spread.isEmpty else { return [] }
        if part.contains(#/\bFOR (NO KEY )?(UPDATE|SHARE)\b|\bFOR KEY SHARE\b/#) {
            found.append("locks rows of several shards: renewald.lock_places locks those of one")
        }
        let others = tables.filter { !isDistributed($0) }
        if let large = others.first(where: { growing.contains(String($0)) }) {
            found.append("reads all of \(large), which is not spread: make a part of it before")
        }
        if limitsBeforeItJoins(part) {
            found.append("joins what a limit has chosen of all servers: join first, then limit")
        }
        guard !part.contains("renewald.every_shard") else { return found }
        if !others.isEmpty, part.contains(#/\b(FROM|JOIN)\s+unnest\(/#) {
            found.append("joins a list with tables of both kinds: make a part of it before")
        }
        let laterals = part.matches(of: #/LATERAL (?=\()/#).map {
            StatementRules.enclosed(in: part, from: $0.range.upperBound)
        }
        if laterals.contains(where: { $0.contains("LIMIT") }) {
            found.append(
                "takes some rows of each of a list: of each shard, by renewald.every_shard")
        }
        return found
    }
}
