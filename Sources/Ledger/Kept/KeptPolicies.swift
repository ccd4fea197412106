import Postgres
package import Renewal
import Synchronization

extension PostgresLedger {
    /// Rules that are remembered: a reload brings others.
    private static let ruleMemory = 4

    /// Under which numbers the rules of these outcomes are kept. They are, before anything that
    /// was decided by them. Rules that cannot be kept have no number: no decision waits for that.
    func numbers(
        ofRulesOf outcomes: [Outcome]
    ) async throws(LedgerError) -> [(rules: Rules, number: Int32)] {
        var numbers: [(rules: Rules, number: Int32)] = []
        for outcome in outcomes where outcome.evidence?.record != nil {
            guard !numbers.contains(where: { $0.rules == outcome.rules }) else { continue }
            guard let number = try await number(of: outcome.rules) else { continue }
            numbers.append((outcome.rules, number))
        }
        return numbers
    }

    /// Whether nothing was decided by these rules before the program began, `elapsed` ago, while
    /// something was by others.
    package func areNew(
        _ rules: Rules, since elapsed: Duration
    ) async throws(LedgerError) -> Bool {
        try await attempt {
            let row = try await self.reads.query(
                SQL.rulesAreNew(.text(rules.json), .int64(elapsed.microseconds))
            ).rows.first
            return try row?.bool("are_new") ?? false
        }
    }

    private func number(of rules: Rules) async throws(LedgerError) -> Int32? {
        let known = keptRules.withLock { kept in kept.first { $0.rules == rules }?.number }
        if let known { return known }
        let number: Int32?
        do throws(PostgresError) {
            let rows = try await retrying { () throws(PostgresError) in
                try await self.writes.query(SQL.keepPolicy(.text(rules.json)))
            }
            number = try rows.rows.first?.int32("id")
        } catch .rejected {
            return nil
        } catch {
            throw LedgerError(error)
        }
        guard let number else { return nil }
        keptRules.withLock { kept in
            kept.append((rules, number))
            if kept.count > Self.ruleMemory { kept.removeFirst() }
        }
        return number
    }
}

extension Rules {
    /// As `renewald.policy` holds them, always in the same order.
    var json: String {
        var json = DetailJSON()
        json["policy"] = Self.object(policy.words.map { ($0.name, DetailJSON.text($0.value)) })
        json["products"] = Self.object(
            catalog.products.sorted { $0.key < $1.key }.map { id, product in
                (id.text, product.json)
            })
        return Self.object(json.members)
    }

    fileprivate static func object(_ members: [(name: String, value: String)]) -> String {
        "{" + members.map { DetailJSON.text($0.name) + ":" + $0.value }.joined(separator: ",") + "}"
    }
}

extension Catalog.Product {
    fileprivate var json: String {
        var json = DetailJSON()
        json["kind"] = kind.map { DetailJSON.text($0.rawValue) }
        json["duration"] = duration.map { String($0.microseconds) }
        json["entitlements"] =
            DetailJSON.texts(entitlements.map { DetailJSON.text($0.text) })
            ?? "[]"
        return Rules.object(json.members)
    }
}
