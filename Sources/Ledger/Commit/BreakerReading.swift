import Postgres
import Renewal
import Synchronization

/// What a limit above the floor is taken from.
struct BreakerMeasure {
    let at: Timestamp
    let past: Int
    let inForce: Int

    /// How old it may be.
    static let ageLimit = Duration.hours(1)
    /// How far one worker's commits may be from another's.
    fileprivate static let apart = Duration.minutes(1)
}

/// All ends of some minutes that were to renew, whether they were asked about yet or not.
struct MeasuredEnds {
    fileprivate let at: Timestamp
    fileprivate let after: Timestamp
    fileprivate let last: Timestamp
    fileprivate let all: [Timestamp: Int]

    /// How old they may be: what is due later is asked about later.
    fileprivate static let ageLimit = Duration.minutes(1)
}

/// What is read of an app's breaker.
private struct BreakerReading {
    var count: BreakerCount
    var measuredAt: Timestamp?
    var measure: BreakerMeasure?
}

/// What a batch would take away in an app.
private struct Losses {
    var early = 0
    /// The known ends, in minutes.
    var ends: [Timestamp] = []

    mutating func note(_ loss: Loss) {
        switch loss {
        case .expected: break
        case .early: early += 1
        case .atItsEnd(let end): ends.append(end.minute)
        }
    }

    /// The time from which ends are counted together with these, and the last of them.
    func span(_ window: Duration) -> (after: Timestamp, last: Timestamp)? {
        guard let first = ends.min(), let last = ends.max() else { return nil }
        return (first - window, last)
    }
}

extension PostgresLedger {
    /// Reads what the workers have counted of the apps that these outcomes take something away in,
    /// by themselves or by what they take over.
    func breakers(
        at now: Timestamp, of outcomes: [Outcome], takingOver: (Outcome) -> [Loss]
    ) async throws(LedgerError) -> RevocationBreakers {
        var breakers = RevocationBreakers(at: now)
        guard let policy = outcomes.first?.rules.policy.breaker, policy.isOn else {
            return breakers
        }
        var losses: [Int32: Losses] = [:]
        for outcome in outcomes {
            for loss in [outcome.loss(at: now)].compactMap(\.self) + takingOver(outcome) {
                losses[outcome.claim.lane, default: Losses()].note(loss)
            }
        }
        guard !losses.isEmpty else { return breakers }
        var readings = try await readings(of: losses, under: policy, at: now)
        await measure(&readings, of: losses, under: policy, at: now)
        for (lane, reading) in readings {
            breakers.enter(
                RevocationBreaker(policy, reading.count, at: now), of: lane,
                lastTrip: reading.count.trip?.id, reading.measure)
        }
        return breakers
    }

    private func readings(
        of losses: [Int32: Losses], under policy: BreakerPolicy, at now: Timestamp
    ) async throws(LedgerError) -> [Int32: BreakerReading] {
        let spans = losses.values.compactMap { $0.span(policy.window) }
        let lanes = PostgresValue.int32s(losses.keys.sorted())
        return try await attempt {
            let results = try await self.reads.pipeline([
                SQL.breakerCounts(lanes, .instant(now), .int64(policy.window.microseconds)),
                SQL.breakerEnds(
                    lanes, .instant(spans.map(\.after).min() ?? now),
                    .instant(spans.map(\.last).max() ?? now)),
            ])
            var readings: [Int32: BreakerReading] = [:]
            for row in results[0].rows {
                readings[try row.int32("lane")] = BreakerReading(
                    count: try row.breakerCount(at: now),
                    measuredAt: try row.optionalInstant("measured_at"))
            }
            for row in results[1].rows {
                readings[try row.int32("lane")]?.count.ends[try row.instant("minute")] =
                    BreakerCount.Ends(
                        known: Int(try row.int64("ends")), lapsed: Int(try row.int64("lapsed")))
            }
            return readings
        }
    }

    /// Measures what a limit above the floor is taken from, where the floor alone would not do.
    /// What cannot be measured in time is left as it was: a limit is then lower, never higher.
    private func measure(
        _ readings: inout [Int32: BreakerReading], of losses: [Int32: Losses],
        under policy: BreakerPolicy, at now: Timestamp
    ) async {
        var stale: [Int32] = []
        for (lane, losses) in losses {
            guard var reading = readings[lane] else { continue }
            let isFresh = reading.measuredAt.map { (now - $0).isAge(upTo: BreakerMeasure.ageLimit) }
            if reading.count.early + losses.early > policy.floor, isFresh != true {
                stale.append(lane)
            }
            let lapsed = reading.count.ends.values.reduce(0) { $0 + $1.lapsed }
            if lapsed + losses.ends.count > policy.floor, let span = losses.span(policy.window) {
                await measureEnds(&reading, of: lane, after: span.after, last: span.last, at: now)
                readings[lane] = reading
            }
        }
        guard !stale.isEmpty else { return }
        let lanes = PostgresValue.int32s(stale.sorted())
        let rows = try? await reads.query(
            SQL.measureBreakers(lanes, .instant(now), .int64(policy.window.microseconds)))
        for row in rows.map({ Array($0.rows) }) ?? [] {
            guard let lane = try? row.int32("lane"), let past = try? row.int64("past"),
                let inForce = try? row.int64("in_force")
            else { continue }
            let measure = BreakerMeasure(at: now, past: Int(past), inForce: Int(inForce))
            readings[lane]?.measure = measure
            readings[lane]?.count.past = measure.past
            readings[lane]?.count.inForce = measure.inForce
        }
    }

    private func measureEnds(
        _ reading: inout BreakerReading, of lane: Int32, after: Timestamp, last: Timestamp,
        at now: Timestamp
    ) async {
        if let known = measuredEnds.withLock({ $0[lane] }),
            (now - known.at).isAge(upTo: MeasuredEnds.ageLimit), known.after <= after,
            known.last >= last
        {
            reading.count.allEnds = known.all
            return
        }
        let rows = try? await reads.query(
            SQL.knownEnds(.int32(lane), .instant(after), .instant(last), .instant(now)))
        var all = reading.count.ends.mapValues(\.known)
        for row in rows.map({ Array($0.rows) }) ?? [] {
            guard let minute = try? row.instant("minute"), let ends = try? row.int64("ends") else {
                continue
            }
            all[minute] = max(all[minute] ?? 0, Int(ends))
        }
        reading.count.allEnds = all
        let measured = MeasuredEnds(at: now, after: after, last: last, all: all)
        measuredEnds.withLock { $0[lane] = measured }
    }
}

extension Duration {
    /// Whether it is the age of something that is not too old. Of what is from the future, since
    /// the clock was set back, nobody knows; workers read the time a little apart.
    fileprivate func isAge(upTo limit: Duration) -> Bool {
        (.zero - BreakerMeasure.apart...limit).contains(self)
    }
}

extension PostgresRow {
    func breakerCount(at now: Timestamp) throws(PostgresError) -> BreakerCount {
        var count = BreakerCount()
        if let id = try optionalInt64("trip_id") {
            count.trip = BreakerCount.Trip(id: id, at: try instant("tripped_at"))
        }
        count.early = Int(try int64("early"))
        count.held = Int(try int64("held"))
        count.past = Int(try int64("past"))
        count.countedFor = now - (try instant("counted_since"))
        count.inForce = Int(try int64("in_force"))
        return count
    }
}

extension PostgresValue {
    static func instant(_ time: Timestamp) -> PostgresValue {
        .timestamp(microsecondsSinceEpoch: time.microsecondsSinceEpoch)
    }
}
