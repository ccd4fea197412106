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
        measured.claim = { lane, places, perShard, limit throws(PortError) in
            let claims = try await telemetry.counting("claim") { () throws(PortError) in
                try await ports.claim(lane, places, perShard, limit)
            }
            if let claim = claims.first { telemetry.clock.hears(claim.claimedAt) }
            return claims
        }
        measured.mark = { inHand, lease throws(PortError) in
            try await telemetry.counting("mark") { () throws(PortError) in
                try await ports.mark(inHand, lease)
            }
        }
        measured.commit = { outcomes, lease, now throws(PortError) in
            try await telemetry.counting("commit") { () throws(PortError) in
                try await metrics.committing { () throws(PortError) in
                    try await ports.commit(outcomes, lease, now)
                }
            }
        }
        measured.beat = { worker, lease throws(PortError) in
            try await telemetry.counting("beat") { () throws(PortError) in
                try await ports.beat(worker, lease)
            }
        }
        measured.take = { worker, limit, lease throws(PortError) in
            let taken = try await telemetry.counting("take") { () throws(PortError) in
                try await ports.take(worker, limit, lease)
            }
            metrics.leasesTaken(taken.count)
            return taken
        }
        measured.release = { lease throws(PortError) in
            try await telemetry.counting("release") { () throws(PortError) in
                try await ports.release(lease)
            }
            metrics.leasesTaken(-lease.epochs.count)
        }
        measured.renew = { lease, duration, idle throws(PortError) in
            let owned = try await telemetry.counting("renew") { () throws(PortError) in
                try await ports.renew(lease, duration, idle)
            }
            metrics.leasesRenewed(held: owned.count, lost: lease.epochs.count - owned.count)
            return owned
        }
        measured.reserve = { app, count, stretch throws(PortError) in
            try await telemetry.counting("reserve") { () throws(PortError) in
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
            measured.hintDoors?.take = { page, source, worker, lease, began throws(PortError) in
                let report = try await telemetry.counting("hints") { () throws(PortError) in
                    try await take(page, source, worker, lease, began)
                }
                if let report {
                    metrics.heard(source.name, fresh: report.fresh, skipped: page.skipped)
                    metrics.read(source.name, at: WallClock.now())
                }
                return report
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
        _ operation: String, _ work: () async throws(PortError) -> Value
    ) async throws(PortError) -> Value {
        do throws(PortError) {
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
