import Engine
import Renewal

extension Ports {
    /// The same doors, with a measure at each.
    func measured(by telemetry: Telemetry) -> Ports {
        let ports = self
        let metrics = telemetry.metrics
        var measured = self
        measured.ask = { claim in
            await metrics.asking(claim.purchase.app) { await ports.ask(claim) }
        }
        measured.claim = { lane, places, perShard, limit throws(LedgerError) in
            let claims = try await telemetry.counting("claim") { () throws(LedgerError) in
                try await ports.claim(lane, places, perShard, limit)
            }
            if let claim = claims.first { telemetry.clock.hears(claim.claimedAt) }
            return claims
        }
        measured.mark = { inHand, lease throws(LedgerError) in
            try await telemetry.counting("mark") { () throws(LedgerError) in
                try await ports.mark(inHand, lease)
            }
        }
        measured.commit = { outcomes, lease, now throws(LedgerError) in
            try await telemetry.counting("commit") { () throws(LedgerError) in
                try await metrics.committing { () throws(LedgerError) in
                    try await ports.commit(outcomes, lease, now)
                }
            }
        }
        measured.beat = { worker, lease throws(LedgerError) in
            try await telemetry.counting("beat") { () throws(LedgerError) in
                try await ports.beat(worker, lease)
            }
        }
        measured.take = { worker, limit, lease throws(LedgerError) in
            let taken = try await telemetry.counting("take") { () throws(LedgerError) in
                try await ports.take(worker, limit, lease)
            }
            metrics.leasesTaken(taken.count)
            return taken
        }
        measured.release = { lease throws(LedgerError) in
            try await telemetry.counting("release") { () throws(LedgerError) in
                try await ports.release(lease)
            }
            metrics.leasesTaken(-lease.epochs.count)
        }
        measured.renew = { lease, duration, idle throws(LedgerError) in
            let owned = try await telemetry.counting("renew") { () throws(LedgerError) in
                try await ports.renew(lease, duration, idle)
            }
            metrics.leasesRenewed(held: owned.count, lost: lease.epochs.count - owned.count)
            return owned
        }
        measured.reserve = { app, count, stretch throws(LedgerError) in
            try await telemetry.counting("reserve") { () throws(LedgerError) in
                try await ports.reserve(app, count, stretch)
            }
        }
        measured.committed = { report in
            ports.committed(report)
            for event in report.events {
                metrics.told(event, lag: event.detectionLag(in: report, at: telemetry.clock))
            }
        }
        for source in ports.hints { metrics.begin(source: source.name) }
        if let take = ports.hintDoors?.take {
            measured.hintDoors?.take = { page, source, worker, lease, began throws(LedgerError) in
                let report = try await telemetry.counting("hints") { () throws(LedgerError) in
                    try await take(page, source, worker, lease, began)
                }
                if let report {
                    metrics.heard(source.name, fresh: report.fresh, skipped: page.skipped)
                    metrics.read(source.name, at: WallClock.now())
                }
                return report
            }
        }
        if let round = ports.hintDoors?.round {
            measured.hintDoors?.round = { asked, worker throws(LedgerError) in
                let turns = try await telemetry.counting("hints") { () throws(LedgerError) in
                    try await round(asked, worker)
                }
                for reading in asked.ended where reading.outcome == .read {
                    metrics.read(reading.source, at: WallClock.now())
                }
                return turns
            }
        }
        measured.circuitMoved = { app, circuit in
            ports.circuitMoved(app, circuit)
            telemetry.circuitMoved(app, circuit.position)
        }
        return measured
    }
}

extension Telemetry {
    /// Counts a failure of the database, and notes whether it answers.
    fileprivate func counting<Value>(
        _ operation: String, _ work: () async throws(LedgerError) -> Value
    ) async throws(LedgerError) -> Value {
        do throws(LedgerError) {
            let value = try await work()
            health.databaseAnswers(true)
            return value
        } catch {
            // A stop cancels what is under way: that says nothing of the database.
            if !Task.isCancelled {
                metrics.databaseFailed(operation)
                health.databaseAnswers(false)
            }
            throw error
        }
    }
}

extension Event {
    /// How long the store knew before we did; nil where that cannot be said.
    func detectionLag(in report: CommitReport, at clock: DatabaseClock) -> Duration? {
        guard
            let claim = report.committed.first(where: { $0.claim.purchase.id == purchaseID })?.claim
        else { return nil }
        return detectionLag(of: claim, at: clock.now ?? claim.claimedAt)
    }
}
