import Renewal
import Testing

@testable import Ledger

/// When the oldest of each shard is due, of one app.
@Suite struct FrontTests {
    @Test func tellsTheOldestOfEachShard() async throws {
        let stage = try await Stage()
        for user in ["ann", "bob", "cid", "dan", "eve"] {
            for number in 1...3 { try await stage.submit(user, "\(user) \(number)") }
        }
        try await stage.submit("ann", "elsewhere", store: "apple")
        let lease = try await stage.takeAll()
        let claims = try await stage.due(lease).filter { $0.purchase.app.store == .google }
        #expect(claims.count == 15)
        let (late, suspect) = (claims[0], claims[1])
        for (id, change) in [
            (late.purchase.id, "due_at = now() + interval '1 hour'"),
            (suspect.purchase.id, "crashes = 1"),
        ] {
            _ = try await stage.list(
                "UPDATE renewald.schedule SET \(change) WHERE id = \(id) RETURNING id::text")
        }
        let lanes = try await stage.ledger.allLanes()
        let lane = try #require(lanes.first { $0.app.store == .google })
        let expected = Dictionary(
            claims.dropFirst(2).map { ($0.shard, $0.dueAt) }, uniquingKeysWith: min)
        let shards = lease.epochs.keys.sorted()
        #expect(try await stage.ledger.fronts(of: lane, in: shards) == expected)
        let some = Array(expected.keys.sorted().prefix(2))
        #expect(
            try await stage.ledger.fronts(of: lane, in: some)
                == expected.filter { some.contains($0.key) })
    }
}
