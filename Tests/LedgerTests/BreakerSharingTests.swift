import Postgres
import Renewal
import Testing

@testable import Ledger

/// What all workers share of a breaker, and how it opens and closes.
extension RevocationBreakerTests {
    // MARK: Ends that were to renew

    /// Half of all that end may lapse, and those with the lowest numbers are asked about first.
    @Test func aMonthsEndGoesThroughWhoeverIsAskedFirst() async throws {
        let (stage, lease) = try await fleet(100, period: 0)
        for lapsing in [1...25, 26...50] as [ClosedRange<Int64>] {
            let report = try await hear(stage, lease) { claim in
                lapsing.contains(claim.purchase.id) ? .verdict(over(claim)) : nil
            }
            #expect(revokes(report) == 25)
        }
        let renewed = try await hear(stage, lease) { claim in
            claim.purchase.id > 50 ? .verdict(inForce(claim)) : nil
        }
        #expect(revokes(renewed) == 0)
        #expect(try await held(stage) == 0)
        await stage.close()
    }

    /// Two workers share the limit of these as well.
    @Test func twoWorkersShareTheLimitOfEnds() async throws {
        let (stage, lease) = try await fleet(100, period: 0)
        let reports = try await hearTogether(stage, lease, parts: 2)
        #expect(reports.map(revokes).reduce(0, +) == 50)
        #expect(reports.flatMap(\.trips).map(\.exceeded) == [.lapsed(50)])
        #expect(try await held(stage) == 50)
        #expect(try await stage.broken() == [])
        await stage.close()
    }

    // MARK: What opens and closes it

    @Test func fiveWorkersShareTheFloor() async throws {
        let (stage, lease) = try await fleet(100)
        let reports = try await hearTogether(stage, lease, parts: 5)
        #expect(reports.map(revokes).reduce(0, +) == Self.floor)
        #expect(reports.flatMap(\.trips).count == 1)
        #expect(try await held(stage) == 80)
        #expect(try await stage.broken() == [])
        await stage.close()
    }

    @Test func anotherAppGoesOn() async throws {
        let (stage, lease) = try await fleet(30)
        try await stage.submit("b", "of another app", app: "com.example.other")
        _ = try await hear(stage, lease) { claim in
            claim.purchase.userID == "b" ? .verdict(inForce(claim)) : .verdict(over(claim))
        }
        #expect(try await held(stage) == 10)
        let report = try await hear(stage, lease) { claim in
            claim.purchase.userID == "b" ? .verdict(over(claim)) : nil
        }
        #expect(revokes(report) == 1)
        await stage.close()
    }

    /// A window later it lets through again as many as the limit says. What it holds, it holds.
    @Test func closesByItselfAndHoldsOn() async throws {
        let (stage, lease) = try await fleet(60)
        _ = try await hear(stage, lease) { $0.purchase.id <= 25 ? .verdict(over($0)) : nil }
        #expect(try await held(stage) == 5)
        func later(_ minutes: Int, _ users: ClosedRange<Int64>) async throws -> CommitReport {
            try await stage.makeAllDue()
            let claims = try await stage.due(lease).filter { users.contains($0.purchase.id) }
            return try await stage.ledger.commit(
                claims.map { outcome($0, over($0)) }, under: lease,
                at: claims.latest + .minutes(minutes))
        }
        #expect(revokes(try await later(58, 26...30)) == 0)
        #expect(try await held(stage) == 10)
        let report = try await later(121, 31...55)
        #expect(revokes(report) == Self.floor)
        #expect(report.trips.count == 1, "a further trip is told as well")
        #expect(try await held(stage) == 15)
        #expect(
            try await stage.list("SELECT DISTINCT trip_id::text FROM renewald.held ORDER BY 1")
                == ["1", "2"])
        #expect(try await stage.broken() == [])
        await stage.close()
    }

    /// So many workers at once commit what all hear.
    private func hearTogether(
        _ stage: Stage, _ lease: Lease, parts: Int
    ) async throws -> [CommitReport] {
        try await stage.makeAllDue()
        let claims = try await stage.due(lease)
        let now = claims.latest
        return try await withThrowingTaskGroup(of: CommitReport.self) { tasks in
            for part in 0..<parts {
                let outcomes = claims.filter { $0.purchase.id % Int64(parts) == Int64(part) }
                    .map { outcome($0, over($0)) }
                tasks.addTask {
                    let ledger = stage.furtherLedger()
                    let report = try await ledger.commit(outcomes, under: lease, at: now)
                    await ledger.close()
                    return report
                }
            }
            return try await tasks.reduce(into: []) { $0.append($1) }
        }
    }
}
