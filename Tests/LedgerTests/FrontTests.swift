import Renewal
import Testing

@testable import Ledger

/// What of one app has been due for longest, and what for the shortest time.
@Suite struct FrontTests {
    /// Of one shard two at most, and nothing that is not due yet, was in hand in a crash, or is of
    /// another app.
    @Test func givesWhatBecameDueLast() async throws {
        let stage = try await Stage()
        for number in 1...4 { try await stage.submit("ann", "ann \(number)") }
        for user in ["bob", "cid", "dan", "eve", "fay"] { try await stage.submit(user, user) }
        try await stage.submit("gil", "elsewhere", store: "apple")
        let lease = try await stage.takeAll()
        let due = try await stage.due(lease).filter { $0.purchase.app.store == .google }
        let claims = due.sorted { ($0.dueAt, $0.purchaseID) > ($1.dueAt, $1.purchaseID) }
        #expect(claims.map(\.purchase.userID).prefix(5) == ["fay", "eve", "dan", "cid", "bob"])
        for (id, change) in [
            (claims[0].purchaseID, "due_at = now() + interval '1 hour'"),
            (claims[1].purchaseID, "crashes = 1"),
        ] {
            _ = try await stage.list(
                "UPDATE renewald.schedule SET \(change) WHERE id = \(id) RETURNING id::text")
        }
        let lane = try #require(
            try await stage.ledger.allLanes().first { $0.app.store == .google })
        func latest(_ shards: [Int16], limit: Int) async throws -> [Int64] {
            try await stage.ledger.latest(
                ClaimRequest(lane, from: shards.map(Place.start), perShard: 2, limit: limit)
            ).map(\.purchaseID).sorted()
        }
        let shards = lease.epochs.keys.sorted()
        #expect(try await latest(shards, limit: 2) == claims[2...3].map(\.purchaseID).sorted())
        #expect(
            try await latest(shards, limit: 100) == claims[2...6].map(\.purchaseID).sorted())
        let others = shards.filter { $0 != claims[2].shard }
        #expect(try await !latest(others, limit: 100).contains(claims[2].purchaseID))
    }

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
