import Postgres
import Renewal
import Testing

@testable import Ledger

/// Rows that hold what this program has no word for.
@Suite(.serialized) struct UnreadableTests {
    /// What a user holds is not known where one of their purchases cannot be read: nothing of theirs is
    /// decided, and everybody else's goes on.
    @Test func oneInAUsersBookStopsNobodyElse() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        for user in ["ann", "bob"] { try await stage.submit(user, "first of \(user)") }
        let first = try await stage.due(lease)
        _ = try await stage.ledger.commit(
            first.map { outcome($0, inForce($0)) }, under: lease, at: first.latest)
        let broken = try #require(first.first { $0.purchase.userID == "ann" }).purchase.id
        try await stage.beside.script(
            "UPDATE renewald.purchase SET lapse = 'nonsense' WHERE id = \(broken)")
        for user in ["ann", "bob"] {
            try await stage.submit(user, "second of \(user)", product: "plus")
        }
        let second = try await stage.due(lease)
        #expect(second.map(\.purchase.userID) == ["ann", "bob"])
        let report = try await stage.ledger.commit(
            second.map { outcome($0, inForce($0, product: "plus")) }, under: lease,
            at: second.latest)
        #expect(report.committed.map(\.claim.purchase.userID) == ["bob"])
        #expect(report.refused.map(\.claim.purchase.userID) == ["ann"])
        #expect(
            try await stage.list(
                """
                SELECT user_id || ' ' || state || ' ' || coalesce(problem, '-')
                FROM renewald.purchases WHERE product = 'plus' ORDER BY user_id
                """) == [
                    "ann new malformed: a row of its user cannot be read", "bob active -",
                ])
        #expect(
            try await stage.list(
                "SELECT user_id FROM renewald.entitlements WHERE active ORDER BY user_id, entitlement"
            )
                == ["ann", "bob", "bob"])
    }

    @Test func itIsShownBesideTheOthersOfItsUser() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        for token in ["1", "2"] { try await stage.submit("ann", token) }
        let bad = try #require(try await stage.due(lease).first?.purchase.id)
        try await stage.beside.script(
            "UPDATE renewald.purchase SET lapse = 'nonsense' WHERE id = \(bad)")
        let (claims, unreadable) = try await stage.ledger.purchases(ofUser: "ann")
        #expect(claims.count == 1)
        #expect(unreadable.map(\.id) == [bad])
        #expect(unreadable.map(\.column) == ["lapse"])
        // Claimed, it is set aside and comes no more; mended and submitted again it does.
        #expect(try await stage.due(lease).count == 1)
        #expect(
            try await stage.list("SELECT problem FROM renewald.purchases WHERE id = \(bad)")
                == [
                    "set_aside: its row cannot be read (column lapse): fix the row, then submit "
                        + "the purchase again"
                ])
        try await stage.beside.script("UPDATE renewald.purchase SET lapse = NULL WHERE id = \(bad)")
        try await stage.submit("ann", claims[0].purchase.token.text == "1" ? "2" : "1")
        #expect(try await stage.due(lease).count == 2)
    }
}
