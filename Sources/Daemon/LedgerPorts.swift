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
    ///   - ask: asks the store of a claim's app.
    package init(
        _ ledger: PostgresLedger, apps: @escaping @Sendable () -> [AppKey], workerName: String,
        ask: @escaping @Sendable (Claim) async -> Hearing
    ) {
        self.init(
            ask: ask,
            lanes: { () throws(PortError) in
                try await opened { try await ledger.registerLanes(apps()) }
            },
            claim: { lane, places, perShard, limit throws(PortError) in
                try await opened {
                    try await ledger.claim(lane, from: places, perShard: perShard, limit: limit)
                }
            },
            suspects: { lane, shards throws(PortError) in
                try await opened {
                    try await ledger.claim(
                        lane, from: shards.map(Place.start), perShard: 1000, limit: 100_000,
                        suspectsOnly: true)
                }
            },
            mark: { inHand, lease throws(PortError) in
                try await opened { try await ledger.mark(inHand, under: lease) }
            },
            commit: { outcomes, lease, now throws(PortError) in
                try await opened { try await ledger.commit(outcomes, under: lease, at: now) }
            },
            beat: { worker, lease throws(PortError) in
                try await opened { try await ledger.beat(worker, name: workerName, lease: lease) }
            },
            take: { worker, limit, lease throws(PortError) in
                try await opened { try await ledger.takeShards(worker, limit: limit, lease: lease) }
            },
            renew: { lease, duration, idle throws(PortError) in
                try await opened { try await ledger.renew(lease, for: duration, idle: idle) }
            },
            release: { lease throws(PortError) in
                try await opened { try await ledger.release(lease) }
            },
            leave: { worker throws(PortError) in
                try await opened { try await ledger.leave(worker) }
            },
            reserve: { app, _, stretch throws(PortError) in
                try await opened {
                    try await ledger.reserveCalls(
                        from: Quota.backgroundBucket(app), for: stretch)
                }
            },
            block: { app, duration throws(PortError) in
                try await opened {
                    try await ledger.block(Quota.backgroundBucket(app), for: duration)
                }
            })
        hintDoors = HintDoors(ledger)
    }
}

extension HintDoors {
    /// The doors to where hints are stored.
    package init(_ ledger: PostgresLedger) {
        self.init(
            begin: { source, worker, lease, isEarly throws(PortError) in
                try await opened {
                    try await ledger.beginPull(
                        of: source.name, by: worker, lease: lease, isEarly: isEarly)
                }
            },
            take: { page, source, worker, lease, began throws(PortError) in
                try await opened {
                    try await ledger.take(
                        page, from: source.name, about: source.app, by: worker, lease: lease,
                        began: began)
                }
            },
            end: { source, worker, next, failures, failure throws(PortError) in
                try await opened {
                    try await ledger.endPull(
                        of: source.name, by: worker, next: next, failures: failures,
                        problem: failure?.problem)
                }
            })
    }
}

/// A ledger's fault, as the engine hears it.
func opened<Value>(_ work: () async throws -> Value) async throws(PortError) -> Value {
    do {
        return try await work()
    } catch let error as LedgerError {
        throw PortError(error.sentence)
    } catch {
        throw PortError("cancelled")
    }
}
