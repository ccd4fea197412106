package import Engine
package import Ledger
package import Renewal

extension Ports {
    /// The engine's doors, those to the database filled. What comes from the stores beside the
    /// answers (`hints`, `acknowledge`), and who is told, is for the caller to add.
    ///
    /// - Parameters:
    ///   - ledger: the database side.
    ///   - apps: those that are configured at the time: each gets its lane.
    ///   - workerName: for people.
    ///   - setAside: hears of purchases that are set aside because their rows cannot be read.
    ///   - ask: asks the store of a claim's app.
    package init(
        _ ledger: PostgresLedger, apps: @escaping @Sendable () -> [AppKey], workerName: String,
        setAside: @escaping @Sendable ([UnreadablePurchase]) -> Void = { _ in },
        ask: @escaping @Sendable (Claim) async -> Hearing
    ) {
        self.init(
            ask: ask,
            lanes: { worker throws(LedgerError) in
                try await ledger.configure(apps(), by: worker)
            },
            heads: { lanes, shards, id throws(LedgerError) in
                try await ledger.heads(of: lanes, in: shards, after: id)
            },
            claim: { lane, places, perShard, limit throws(LedgerError) in
                try await ledger.claim(
                    lane, from: places, perShard: perShard, limit: limit, tell: setAside)
            },
            suspects: { lanes, shards throws(LedgerError) in
                try await ledger.suspects(of: lanes, in: shards, tell: setAside)
            },
            mark: { inHand, lease throws(LedgerError) in
                try await ledger.mark(inHand, under: lease)
            },
            commit: { outcomes, lease, now throws(LedgerError) in
                try await ledger.commit(outcomes, under: lease, at: now)
            },
            beat: { worker, lease throws(LedgerError) in
                try await ledger.beat(worker, name: workerName, lease: lease)
            },
            take: { worker, limit, lease throws(LedgerError) in
                try await ledger.takeShards(worker, limit: limit, lease: lease)
            },
            renew: { lease, duration, idle throws(LedgerError) in
                try await ledger.renew(lease, for: duration, idle: idle)
            },
            release: { lease throws(LedgerError) in
                try await ledger.release(lease)
            },
            leave: { worker throws(LedgerError) in
                try await ledger.leave(worker)
            },
            reserve: { app, _, stretch throws(LedgerError) in
                try await ledger.reserveCalls(
                    from: Quota.bucket(app), for: stretch, within: PermitRow.horizon)
            },
            block: { app, duration throws(LedgerError) in
                try await ledger.block(Quota.bucket(app), for: duration)
            })
        hintDoors = HintDoors(ledger)
    }
}

extension HintDoors {
    /// The doors to where hints are stored.
    package init(_ ledger: PostgresLedger) {
        self.init(
            round: { round, worker throws(LedgerError) in
                try await ledger.hintRound(round, by: worker)
            },
            take: { page, source, worker, lease, began throws(LedgerError) in
                try await ledger.take(
                    page, from: source.name, about: source.app, by: worker, lease: lease,
                    began: began)
            },
            forget: { () throws(LedgerError) in try await ledger.forgetOldHints() })
    }
}
