import Postgres
import Renewal
import Testing

@testable import Ledger

/// Backends that leave the transaction open in which they have submitted something.
@Suite(.serialized) struct OpenSubmissionTests {
    private static let others = (0..<40).map { "user \($0)" }

    /// The users who are to get many purchases were submitted for in one session that is open: those
    /// purchases wait, and nobody else.
    @Test func aSessionThatHoldsManyUsersHoldsUpNobodyElse() async throws {
        let stage = try await Stage()
        let owners = (0..<30).map { "owner \($0)" }
        let lease = try await stage.settled(owners)
        let backend = stage.session("backend")
        try await backend.script("BEGIN")
        for user in owners { try await stage.submit("new \(user)", "own of \(user)", on: backend) }
        for user in owners { try await stage.submit("new \(user)", "token of \(user)") }
        for user in Self.others { try await stage.submit(user, "token of \(user)") }
        let ledger = stage.hastyLedger()
        let claims = try await stage.due(lease)
        #expect(claims.count == owners.count + Self.others.count)
        let report = try await ledger.commit(
            claims.map { outcome($0, inForce($0), .move) }, under: lease, at: claims.latest)
        #expect(report.events.map(\.kind) == Self.others.map { _ in .grant(.purchased) })
        #expect(report.unfinished == nil && report.dropped == [] && report.refused == [])
        try await backend.script("COMMIT")
        try await stage.makeAllDue()
        let last = try await stage.due(lease).filter { $0.purchase.isClaimedByOthers }
        let moved = try await ledger.commit(
            last.map { outcome($0, inForce($0), .move) }, under: lease, at: last.latest)
        #expect(moved.events.count == 2 * owners.count)
        #expect(try await stage.broken() == [])
        await backend.close()
        await ledger.close()
    }

    /// The owner of what was never checked submits it again in a session that is open.
    @Test func whatWasNeverCheckedIsHeldByItself() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        for user in ["ann", "bob"] { try await stage.submit(user, "of \(user)", store: "apple") }
        let backend = stage.session("backend")
        try await backend.script("BEGIN")
        try await stage.submit("ann", "of ann", store: "apple", on: backend)
        let ledger = stage.hastyLedger()
        let claims = try await stage.due(lease)
        let report = try await ledger.commit(
            claims.map { outcome($0, inForce($0)) }, under: lease, at: claims.latest)
        #expect(report.committed.map(\.claim.purchase.userID) == ["bob"])
        #expect(report.held.map(\.purchase.userID) == ["ann"])
        try await backend.script("COMMIT")
        let late = try await ledger.commit(
            claims.map { outcome($0, inForce($0)) }, under: lease, at: claims.latest)
        #expect(late.committed.map(\.claim.purchase.userID) == ["ann"])
        #expect(try await stage.broken() == [])
        await backend.close()
        await ledger.close()
    }

    /// A backend that has submitted a purchase again, or for another user, and leaves its transaction
    /// open: not even the next check of that one can be moved.
    @Test(arguments: ["ann", "bob"])
    func whatIsHeldAltogetherIsToldAndHoldsUpNobodyElse(_ user: String) async throws {
        let stage = try await Stage()
        let lease = try await stage.settled(["ann"])
        try await stage.beside.script(
            """
            UPDATE renewald.schedule
            SET due_at = now() + interval '1 hour', checked_at = now() - interval '1 hour';
            UPDATE renewald.purchase SET expires_at = now() - interval '1 hour'
            """)
        let other = try await stage.submit("cid", "other")
        let backend = stage.session("backend")
        try await backend.script("BEGIN")
        try await stage.submit(user, "token of ann", on: backend)
        try await stage.beside.script("SELECT 1")
        let ledger = stage.hastyLedger()
        let claims = try await stage.ledger.claims(ofUser: "ann") + stage.due(lease)
        #expect(claims.map(\.purchase.id).contains(other) && claims.count == 2)
        let report = try await ledger.commit(
            claims.map { outcome($0, inForce($0, period: 3)) }, under: lease, at: claims.latest)
        #expect(report.committed.map(\.claim.purchase.userID) == ["cid"])
        #expect(report.dropped.map(\.purchase.userID) == ["ann"])
        #expect(report.held == report.dropped)
        try await backend.script("ROLLBACK")
        #expect(try await stage.broken() == [])
        await backend.close()
        await ledger.close()
    }
}
