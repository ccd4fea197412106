import Postgres
import Renewal
import Testing

@testable import Ledger

/// The row of calls that all workers share.
@Suite(.serialized) struct QuotaTests {
    private static let interval = Duration.milliseconds(10)

    /// Reserves, and tells by the database's clock when the first call may start; nil when none may.
    private func offer(
        _ count: Int, on connection: PostgresConnection, within horizon: Duration = .seconds(3600),
        isUrgent: Bool = false
    ) async throws -> Int64? {
        _ = try await connection.query(SQL.openBuckets(.texts(["bucket"])))
        return try await connection.transaction { connection in
            let now = try await connection.query(PostgresStatement("SELECT now() AS now"))[0]
                .timestamp("now")
            let row = try await connection.query(
                SQL.reserveCalls(
                    .texts(["bucket"]), .int64s([(Self.interval * count).microseconds]),
                    .int64s([horizon.microseconds]), .bools([isUrgent])))[0]
            let wait = try row.int64("wait_microseconds")
            #expect(wait >= 0)
            return try row.optionalInstant("reserved_until").map { _ in now + wait }
        }
    }

    private func reserve(_ count: Int, on connection: PostgresConnection) async throws -> Int64 {
        try #require(try await offer(count, on: connection))
    }

    /// How long until the places begin.
    private func wait(
        _ stage: Stage, _ count: Int, from bucket: BucketID = "bucket"
    ) async throws -> Duration {
        let reservation = try await stage.ledger.reserveCalls([
            CallRequest(Self.interval * count, of: bucket, within: .seconds(100_000))
        ])[0]
        guard case .granted(let wait, _) = reservation else {
            Issue.record("nothing was granted")
            return .zero
        }
        return wait
    }

    @Test func reservationsOfManyNeverOverlapAndKeepTheRate() async throws {
        let stage = try await Stage()
        let places = try await withThrowingTaskGroup(of: [Int64].self) { group in
            for worker in 0..<6 {
                group.addTask {
                    let connection = stage.session("worker \(worker)")
                    var places: [Int64] = []
                    for round in 0..<25 {
                        let count = 1 + (round + worker) % 5
                        let first = try await reserve(count, on: connection)
                        places += (0..<count).map {
                            first + Int64($0) * Self.interval.microseconds
                        }
                    }
                    await connection.close()
                    return places
                }
            }
            return try await group.reduce(into: [Int64]()) { $0 += $1 }.sorted()
        }
        #expect(places.count == 6 * 25 * 3)
        let gaps = zip(places.dropFirst(), places).map { $0 - $1 }
        #expect(gaps.allSatisfy { $0 >= Self.interval.microseconds })
    }

    @Test func manyAppsReserveInOneTransactionAndWorkersNeverWaitForOneAnother() async throws {
        let stage = try await Stage()
        let buckets = (0..<400).map { BucketID("app \($0)") }
        try await stage.ledger.block("app 7", for: .seconds(1000))
        let waits = try await withThrowingTaskGroup(of: [[BucketID: Duration]].self) { group in
            for worker in 0..<4 {
                group.addTask {
                    let ledger = stage.furtherLedger()
                    var waits: [[BucketID: Duration]] = []
                    for round in 0..<5 {
                        // Each in an order of its own.
                        let asked = worker % 2 == round % 2 ? buckets : buckets.reversed()
                        let replies = try await ledger.reserveCalls(
                            asked.map {
                                CallRequest(.seconds(10), of: $0, within: .seconds(100_000))
                            })
                        var wait: [BucketID: Duration] = [:]
                        for (bucket, reply) in zip(asked, replies) {
                            guard case .granted(let time, _) = reply else { continue }
                            wait[bucket] = time
                        }
                        waits.append(wait)
                    }
                    await ledger.close()
                    return waits
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(waits.count == 20 && waits.allSatisfy { $0.count == 400 })
        #expect(waits.allSatisfy { $0["app 7", default: .zero] > .seconds(500) })
        // Twenty stretches of ten seconds, one after the other.
        let row = waits.compactMap { $0["app 8"] }.sorted()
        #expect(row.count == 20 && row[19] > .seconds(19 * 10 - 60))
    }

    /// A worker that stops leaves the places that it has not used.
    @Test func theEndOfAStretchComesBackUnlessAnotherFollows() async throws {
        let stage = try await Stage()
        func reserve(_ count: Int) async throws -> (wait: Duration, until: Timestamp) {
            let reservation = try await stage.ledger.reserveCalls([
                CallRequest(Self.interval * count, of: "bucket", within: .seconds(100_000))
            ])[0]
            guard case .granted(let wait, let until) = reservation else {
                throw CancellationError()
            }
            return (wait, until)
        }
        let first = try await reserve(100_000)
        let unused = UnusedCalls(.seconds(900), of: "bucket", reservedUntil: first.until)
        try await stage.ledger.giveBackCalls(unused)
        // Twice is once.
        try await stage.ledger.giveBackCalls(unused)
        let second = try await reserve(10)
        #expect(second.until == first.until - .seconds(900) + Self.interval * 10)
        #expect((.seconds(90)...(.seconds(100))).contains(second.wait))

        let third = try await reserve(10)
        try await stage.ledger.giveBackCalls(
            UnusedCalls(Self.interval * 9, of: "bucket", reservedUntil: second.until))
        #expect(try await reserve(10).until == third.until + Self.interval * 10)
    }

    @Test func aBlockHoldsEveryReservationBack() async throws {
        let stage = try await Stage()
        _ = try await wait(stage, 3)
        try await stage.ledger.block("bucket", for: .seconds(1000))
        // A shorter one does not shorten it.
        try await stage.ledger.block("bucket", for: .seconds(1))
        #expect(try await wait(stage, 2) > .seconds(500))
        #expect(
            try await stage.list(
                "SELECT (free_at - blocked_until)::text FROM renewald.bucket") == ["00:00:00.02"])
        #expect(try await wait(stage, 2, from: "other") < .seconds(500))
    }

    @Test func aPausedAppGivesNobodyAPlace() async throws {
        let stage = try await Stage()
        let app = AppKey(store: .google, id: "com.example.reader")
        let worker = WorkerID.random()
        _ = try await stage.ledger.beat(worker, name: "one", lease: .seconds(60))
        func mayCall(_ isUrgent: Bool) async throws -> Reservation {
            try await stage.ledger.reserveCalls([
                CallRequest(
                    Self.interval, of: BucketID(of: app), within: .seconds(30), isUrgent: isUrgent)
            ])[0]
        }
        let first = try await stage.ledger.pause(app, true)
        #expect(first.since != nil && first.hasChanged)
        let second = try await stage.ledger.pause(app, true)
        #expect(second.since == first.since && !second.hasChanged)
        #expect(try await mayCall(false) == .paused)
        #expect(try await mayCall(true) == .paused)
        #expect(try await stage.ledger.configure([app], by: worker).paused == [app])
        let third = try await stage.ledger.pause(app, false)
        #expect(third.since == nil && third.hasChanged)
        guard case .granted = try await mayCall(false) else {
            Issue.record("it gives places again")
            return
        }
        #expect(try await stage.ledger.configure([app], by: worker).paused.isEmpty)
        #expect(try await !stage.ledger.pause(app, false).hasChanged)
    }

    @Test func aBlockMayComeBeforeTheFirstCall() async throws {
        let stage = try await Stage()
        try await stage.ledger.block("bucket", for: .seconds(1000))
        #expect(try await wait(stage, 1) > .seconds(500))
    }

    @Test func timeThatNobodyUsedIsNotSavedUp() async throws {
        let stage = try await Stage()
        _ = try await wait(stage, 1)
        try await stage.beside.script(
            "UPDATE renewald.bucket SET free_at = now() - interval '1 hour'")
        let first = try await reserve(100, on: stage.beside)
        let second = try await reserve(1, on: stage.beside)
        #expect(second - first >= 100 * Self.interval.microseconds)
    }

    @Test func aClockThatWasSetBackHoldsNobodyBack() async throws {
        let stage = try await Stage()
        _ = try await wait(stage, 1)
        try await stage.beside.script(
            "UPDATE renewald.bucket SET free_at = now() + interval '1 hour'")
        #expect(try await wait(stage, 1) <= .zero)
        // What others have reserved is no such thing.
        try await stage.beside.script(
            "UPDATE renewald.bucket SET free_at = now() + interval '1 minute'")
        #expect(try await wait(stage, 1) > .seconds(30))
    }

    // MARK: Somebody waits at a terminal

    @Test func nothingIsReservedBeyondTheHorizon() async throws {
        let stage = try await Stage()
        _ = try await reserve(100, on: stage.beside)
        let before = try await stage.list("SELECT free_at::text FROM renewald.bucket")
        #expect(try await offer(1, on: stage.beside, within: .milliseconds(100)) == nil)
        #expect(try await stage.list("SELECT free_at::text FROM renewald.bucket") == before)
        let again = try await stage.ledger.reserveCalls([
            CallRequest(Self.interval, of: "bucket", within: .milliseconds(100))
        ])[0]
        guard case .askAgain(let wait) = again else {
            Issue.record("it was granted")
            return
        }
        #expect(wait <= .milliseconds(900))
    }

    /// However many workers want calls, whoever waits has no more before them than one stretch and what
    /// a horizon lets begin.
    @Test func whoWaitsGoesBeforeTheBackground() async throws {
        let stage = try await Stage()
        let horizon = Duration.milliseconds(100)
        let first = try await reserve(100, on: stage.beside)
        for _ in 0..<20 {
            #expect(try await offer(100, on: stage.beside, within: horizon) == nil)
        }
        var urgent: [Int64] = []
        for _ in 0..<10 {
            urgent.append(
                try #require(
                    try await offer(1, on: stage.beside, within: .seconds(30), isUrgent: true)))
            #expect(try await offer(100, on: stage.beside, within: horizon) == nil)
        }
        // One after the other, at the full rate, right behind what was reserved.
        let interval = Self.interval.microseconds
        #expect(urgent[0] == first + 100 * interval)
        #expect(zip(urgent.dropFirst(), urgent).allSatisfy { $0 - $1 == interval })
    }

    @Test func theBackgroundStandsBackForAMomentAndNotForEver() async throws {
        let stage = try await Stage()
        let horizon = Duration.milliseconds(100)
        _ = try await offer(1, on: stage.beside, within: .seconds(30), isUrgent: true)
        // The row is free, and a further call may be wanted.
        try await stage.beside.script("UPDATE renewald.bucket SET free_at = now()")
        #expect(try await offer(1, on: stage.beside, within: horizon) == nil)
        // Somebody goes on and on: the background has a stretch every five seconds.
        try await stage.beside.script(
            """
            UPDATE renewald.bucket SET yields_since = now() - interval '6 seconds',
                free_at = now() + interval '2 seconds'
            """)
        #expect(try await offer(1, on: stage.beside, within: horizon) != nil)
        #expect(try await offer(1, on: stage.beside, within: horizon) == nil)
        // Nobody waits any more.
        try await stage.beside.script(
            "UPDATE renewald.bucket SET urgent_until = now(), free_at = now()")
        #expect(try await offer(1, on: stage.beside, within: horizon) != nil)
    }

    @Test func aBlockHoldsWhoWaitsBackToo() async throws {
        let stage = try await Stage()
        try await stage.ledger.block("bucket", for: .seconds(1000))
        let reservation = try await stage.ledger.reserveCalls([
            CallRequest(Self.interval, of: "bucket", within: .seconds(30), isUrgent: true)
        ])[0]
        guard case .askAgain(let wait) = reservation else {
            Issue.record("the store has asked for no calls")
            return
        }
        #expect(wait > .seconds(500))
    }
}
