import Postgres
import Renewal

/// Links of chains (design rule 8) that a batch is about: tokens that purchases name as those they
/// continue, whoever has which of the two.
struct Chains {
    struct Key: Hashable, Comparable {
        let lane: Int32
        let token: StoreToken

        static func < (left: Key, right: Key) -> Bool {
            (left.lane, left.token) < (right.lane, right.token)
        }
    }

    /// Where another user's older link is.
    struct Place {
        let user: UserID
        let shard: Int16
        let id: Int64
    }

    /// To be remembered: the purchases that continue these tokens.
    fileprivate(set) var named: [Key: Int64] = [:]
    /// The older links that purchases of the batch take over, by these.
    fileprivate(set) var older: [CommitBatch.RowID: Place] = [:]
}

extension PostgresLedger {
    /// Finds what was handed in of the chains of a batch.
    ///
    /// - Returns: the outcomes, with what is to be decided of older links that come late instead.
    func link(_ outcomes: [Outcome]) async throws(LedgerError) -> ([Outcome], Chains) {
        var chains = Chains()
        for outcome in outcomes {
            guard let key = outcome.key(of: outcome.change?.olderLink) else { continue }
            chains.named[key] = outcome.claim.purchaseID
        }
        let outcomes = try await supersede(outcomes, &chains)
        let places = try await places(of: Set(outcomes.compactMap(\.takenOver)).sorted())
        for outcome in outcomes {
            guard let key = outcome.takenOver, let place = places[key],
                place.user != outcome.claim.purchase.userID
            else { continue }
            chains.older[outcome.claim.row] = place
        }
        return (outcomes, chains)
    }

    private func supersede(
        _ outcomes: [Outcome], _ chains: inout Chains
    ) async throws(LedgerError) -> [Outcome] {
        let gaining = outcomes.filter(\.mayComeLate)
        guard !gaining.isEmpty else { return outcomes }
        let keys = Set(gaining.map(\.ownKey)).sorted()
        var successors = try await attempt {
            var successors: [Chains.Key: Int64] = [:]
            let rows = try await self.writes.query(
                SQL.findSuccessors(.int32s(keys.map(\.lane)), .texts(keys.map(\.token))))
            for row in rows.rows {
                let key = Chains.Key(lane: try row.int32("lane"), token: try row.text("token"))
                successors[key] = try row.int64("id")
            }
            return successors
        }
        successors.merge(chains.named) { known, _ in known }
        let keysOfIDs = Dictionary(
            outcomes.map { ($0.claim.purchaseID, $0.ownKey) }, uniquingKeysWith: { $1 })
        return outcomes.map { outcome in
            guard outcome.mayComeLate,
                let successor = Self.last(after: outcome, successors, keysOfIDs),
                let merged = outcome.superseded(by: successor)
            else { return outcome }
            // What it continued itself is continued by its successor.
            if let key = outcome.key(of: outcome.change?.olderLink) {
                chains.named[key] = successor
            }
            return merged
        }
    }

    /// The newest link of the chain, as far as it is known here; nil where there is none, or where
    /// links name each other in a circle, which is nonsense.
    private static func last(
        after outcome: Outcome, _ successors: [Chains.Key: Int64], _ keys: [Int64: Chains.Key]
    ) -> Int64? {
        var seen: Set<Int64> = [outcome.claim.purchaseID]
        var last = successors[outcome.ownKey]
        while let id = last {
            guard seen.insert(id).inserted else { return nil }
            guard let next = keys[id].flatMap({ successors[$0] }) else { return id }
            last = next
        }
        return last
    }

    private func places(
        of keys: [Chains.Key]
    ) async throws(LedgerError) -> [Chains.Key: Chains.Place] {
        guard !keys.isEmpty else { return [:] }
        return try await attempt {
            var places: [Chains.Key: Chains.Place] = [:]
            let rows = try await self.writes.query(
                SQL.findOlderLinks(.int32s(keys.map(\.lane)), .texts(keys.map(\.token))))
            for row in rows.rows {
                let key = Chains.Key(lane: try row.int32("lane"), token: try row.text("token"))
                places[key] = Chains.Place(
                    user: try row.text("user_id"), shard: try row.int16("shard"),
                    id: try row.int64("id"))
            }
            return places
        }
    }
}

extension Outcome {
    fileprivate var ownKey: Chains.Key {
        Chains.Key(lane: claim.lane, token: claim.purchase.token)
    }

    /// Nil for what it names itself by.
    fileprivate func key(of token: StoreToken?) -> Chains.Key? {
        guard let token, token != claim.purchase.token else { return nil }
        return Chains.Key(lane: claim.lane, token: token)
    }

    fileprivate var takenOver: Chains.Key? { key(of: change?.predecessorToken) }
}

extension CommitBatch {
    var successorStatement: PostgresStatement? {
        guard !chains.named.isEmpty else { return nil }
        let rows = chains.named.sorted { $0.key < $1.key }
        return SQL.commitSuccessors([
            "lane": .int32s(rows.map(\.key.lane)), "token": .texts(rows.map(\.key.token)),
            "id": .int64s(rows.map(\.value)),
        ])
    }
}
