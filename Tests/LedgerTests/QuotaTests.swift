import Postgres
import Renewal
import Testing

@testable import Ledger

/// The row of calls that all workers share.
@Suite(.serialized) struct QuotaTests {
    private static let interval = Duration.milliseconds(10)

    /// Reserves, and tells by the database's clock when the first call may start.
    private func reserve(_ count: Int, on connection: PostgresConnection) async throws -> Int64 {
        try await connection.transaction { connection in
            let now = try await connection.query(PostgresStatement("SELECT now() AS now"))[0]
                .timestamp("now")
            let wait = try await connection.query(
                SQL.reserveCalls(
                    .text("bucket"), .int64((Self.interval * count).microseconds)))[0]
                .int64("wait_microseconds")
            #expect(wait >= 0)
            return now + wait
        }
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

    @Test func aBlockHoldsEveryReservationBack() async throws {
        let stage = try await Stage()
        _ = try await stage.ledger.reserveCalls(from: "bucket", for: Self.interval * 3)
        try await stage.ledger.block("bucket", for: .seconds(1000))
        // A shorter one does not shorten it.
        try await stage.ledger.block("bucket", for: .seconds(1))
        let wait = try await stage.ledger.reserveCalls(from: "bucket", for: Self.interval * 2)
        #expect(wait > .seconds(500))
        #expect(
            try await stage.list(
                "SELECT (free_at - blocked_until)::text FROM renewald.bucket") == ["00:00:00.02"])
        #expect(
            try await stage.ledger.reserveCalls(from: "other", for: Self.interval * 2)
                < .seconds(500))
    }

    @Test func aBlockMayComeBeforeTheFirstCall() async throws {
        let stage = try await Stage()
        try await stage.ledger.block("bucket", for: .seconds(1000))
        let wait = try await stage.ledger.reserveCalls(from: "bucket", for: Self.interval * 1)
        #expect(wait > .seconds(500))
    }

    @Test func timeThatNobodyUsedIsNotSavedUp() async throws {
        let stage = try await Stage()
        _ = try await stage.ledger.reserveCalls(from: "bucket", for: Self.interval * 1)
        try await stage.beside.script(
            "UPDATE renewald.bucket SET free_at = now() - interval '1 hour'")
        let first = try await reserve(100, on: stage.beside)
        let second = try await reserve(1, on: stage.beside)
        #expect(second - first >= 100 * Self.interval.microseconds)
    }

    @Test func aClockThatWasSetBackHoldsNobodyBack() async throws {
        let stage = try await Stage()
        _ = try await stage.ledger.reserveCalls(from: "bucket", for: Self.interval * 1)
        try await stage.beside.script(
            "UPDATE renewald.bucket SET free_at = now() + interval '1 hour'")
        let wait = try await stage.ledger.reserveCalls(from: "bucket", for: Self.interval * 1)
        #expect(wait <= .zero)
        // What others have reserved is no such thing.
        try await stage.beside.script(
            "UPDATE renewald.bucket SET free_at = now() + interval '1 minute'")
        let next = try await stage.ledger.reserveCalls(from: "bucket", for: Self.interval * 1)
        #expect(next > .seconds(30))
    }
}
