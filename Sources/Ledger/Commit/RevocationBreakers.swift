import Postgres
import Renewal

/// The breakers of the apps that a batch takes something away in, or renews something in (design
/// rule 13).
struct RevocationBreakers {
    private struct Entry {
        var breaker: RevocationBreaker
        /// The last trip that is stored, also where it is over.
        let trip: Int64?
        /// Whether anything may be taken away: then its row is locked and compared.
        var isLosing: Bool
        /// What was measured for this batch, to be kept; nil where nothing was.
        var measure: BreakerMeasure?
    }

    private let now: Timestamp
    private var entries: [Int32: Entry] = [:]

    init(at now: Timestamp) {
        self.now = now
    }

    mutating func enter(
        _ breaker: RevocationBreaker, of lane: Int32, lastTrip: Int64?, _ measure: BreakerMeasure?
    ) {
        entries[lane] = Entry(breaker: breaker, trip: lastTrip, isLosing: true, measure: measure)
    }

    /// Whether a revocation goes through.
    mutating func admits(_ loss: Loss, in lane: Int32) -> Bool {
        entries[lane]?.breaker.admits(loss) ?? true
    }

    /// Of older links that a purchase takes over, those whose revocation does not go through.
    mutating func held(of links: [(link: Int64, loss: Loss)], in lane: Int32) -> Set<Int64> {
        var held: Set<Int64> = []
        for (link, loss) in links where !admits(loss, in: lane) { held.insert(link) }
        return held
    }

    mutating func survived(_ end: Timestamp, in lane: Int32, under policy: BreakerPolicy) {
        guard policy.isOn else { return }
        if entries[lane] == nil {
            let breaker = RevocationBreaker(policy, BreakerCount(), at: now)
            entries[lane] = Entry(breaker: breaker, trip: nil, isLosing: false)
        }
        entries[lane]?.breaker.survived(end)
    }

    /// The lanes whose breakers this batch trips, in order.
    var tripped: [(lane: Int32, breaker: RevocationBreaker)] {
        entries.filter(\.value.breaker.hasTripped).sorted { $0.key < $1.key }
            .map { ($0.key, $0.value.breaker) }
    }

    /// In the order in which every commit locks: the breakers, what is counted, what is compared.
    var statements: [PostgresStatement] {
        let losing = entries.filter(\.value.isLosing).sorted { $0.key < $1.key }
        var statements: [PostgresStatement] = []
        if !losing.isEmpty {
            statements.append(
                SQL.lockBreakers([
                    "lane": .int32s(losing.map(\.key)),
                    "past": .optionalInt64s(losing.map { $0.value.measure.map { Int64($0.past) } }),
                    "in_force": .optionalInt64s(
                        losing.map { $0.value.measure.map { Int64($0.inForce) } }),
                    "measured_at": .optionalInstants(losing.map { $0.value.measure?.at }),
                ]))
        }
        if let countStatement { statements.append(countStatement) }
        if !losing.isEmpty {
            statements.append(
                SQL.requireBreakers([
                    "lane": .int32s(losing.map(\.key)),
                    "trip_id": .optionalInt64s(losing.map(\.value.trip)),
                    "most": .int64s(losing.map { Int64(clamping: $0.value.breaker.mostEarly) }),
                    "now": .instant(now),
                    "window": .int64(window),
                ]))
        }
        if let endStatement { statements.append(endStatement) }
        let tripping = losing.filter(\.value.breaker.hasTripped)
        if !tripping.isEmpty {
            statements.append(
                SQL.commitTrips([
                    "lane": .int32s(tripping.map(\.key)),
                    "trip_id": .optionalInt64s(tripping.map(\.value.trip)), "now": .instant(now),
                ]))
        }
        return statements
    }

    private var window: Int64 {
        (entries.first?.value.breaker.policy ?? BreakerPolicy()).window.microseconds
    }

    private typealias Row = (
        lane: Int32, minute: Timestamp, early: Int, held: Int, ends: BreakerCount.Ends
    )

    private var countStatement: PostgresStatement? {
        var rows: [Row] = []
        for (lane, entry) in entries {
            let added = entry.breaker.added
            var minutes = Set(added.ends.keys)
            if added.early + added.held > 0 { minutes.insert(now.minute) }
            for minute in minutes {
                let isNow = minute == now.minute
                rows.append(
                    (
                        lane, minute, isNow ? added.early : 0, isNow ? added.held : 0,
                        added.ends[minute] ?? BreakerCount.Ends(known: 0, lapsed: 0)
                    ))
            }
        }
        guard !rows.isEmpty else { return nil }
        rows.sort { ($0.lane, $0.minute) < ($1.lane, $1.minute) }
        return SQL.countLosses([
            "lane": .int32s(rows.map(\.lane)), "minute": .instants(rows.map(\.minute)),
            "early": .int64s(rows.map { Int64($0.early) }),
            "held": .int64s(rows.map { Int64($0.held) }),
            "ends": .int64s(rows.map { Int64($0.ends.known) }),
            "lapsed": .int64s(rows.map { Int64($0.ends.lapsed) }),
        ])
    }

    private var endStatement: PostgresStatement? {
        var rows: [(lane: Int32, minute: Timestamp, most: Int)] = []
        for (lane, entry) in entries {
            for (minute, ends) in entry.breaker.added.ends where ends.lapsed > 0 {
                rows.append((lane, minute, entry.breaker.limit(ofLapsesUpTo: minute)))
            }
        }
        guard !rows.isEmpty else { return nil }
        return SQL.requireEnds([
            "lane": .int32s(rows.map(\.lane)), "minute": .instants(rows.map(\.minute)),
            "most": .int64s(rows.map { Int64($0.most) }), "window": .int64(window),
        ])
    }
}
