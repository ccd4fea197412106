import Postgres
import Renewal
import TestSupport
import Testing

@testable import Ledger

/// Users, products, entitlements and apps whose names are the same to Swift's `String` and two
/// texts to PostgreSQL, in one batch.
@Suite(.serialized) struct IdentityTests {
    /// A composed and a decomposed letter; the letter K and the Kelvin sign.
    static let pairs = [("jos\u{E9}", "jose\u{301}"), ("K1", "\u{212A}1")]

    /// For each pair a suffix with which both users are in one shard, and one with which not.
    private func users(_ stage: Stage) async throws -> [(String, String)] {
        var found: [(String, String)] = []
        for (left, right) in Self.pairs {
            for comparison in ["=", "<>"] {
                let suffix = try await stage.list(
                    """
                    SELECT n::text FROM generate_series(0, 100000) AS n
                    WHERE renewald.shard_of($1 || '-' || n)
                        \(comparison) renewald.shard_of($2 || '-' || n)
                    ORDER BY n LIMIT 1
                    """, [.text(left), .text(right)])
                let end = "-" + (try #require(suffix.first))
                found.append((left + end, right + end))
            }
        }
        #expect(found.allSatisfy { $0.0 == $0.1 })
        return found
    }

    private func has(_ stage: Stage, _ users: [String], _ name: String = "pro") async throws
        -> [String]
    {
        var held: [String] = []
        for user in users {
            held += try await stage.list(
                "SELECT renewald.has($1, $2)::text", [.text(user), .text(name)])
        }
        return held
    }

    private func commit(
        _ stage: Stage, _ lease: Lease, _ policy: Policy = Policy(),
        _ answer: (Claim) -> Observation
    ) async throws -> CommitReport {
        let claims = try await stage.due(lease)
        return try await stage.ledger.commit(
            claims.map { claim in
                decide(
                    claim, hearing: .verdict(answer(claim)),
                    at: Moment(now: claim.claimedAt, jitter: 0.5), under: Rules(policy: policy))
            }, under: lease, at: claims.latest)
    }

    /// Grants, then takes back from all of them, each in one batch.
    @Test func eachUserOfAPairIsGrantedAndRevoked() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        let users = try await users(stage).flatMap { [$0.0, $0.1] }
        for user in users { try await stage.submit(user, "token of \(Array(user.utf8))") }
        let granted = try await commit(stage, lease) { inForce($0) }
        #expect(granted.committed.count == users.count)
        #expect(granted.events.map(\.kind) == users.map { _ in .grant(.purchased) })
        #expect(Set(granted.events.map(\.userID)) == Set(users.map(UserID.init)))
        #expect(try await has(stage, users) == users.map { _ in "true" })
        try await stage.makeAllDue()
        let refunded = try await commit(stage, lease) { claim in
            var observation = inForce(claim)
            observation.observed = .own(.refunded(at: claim.purchase.createdAt))
            return observation
        }
        #expect(refunded.events.map(\.kind) == users.map { _ in .revoke(.refunded) })
        #expect(Set(refunded.events.map(\.userID)) == Set(users.map(UserID.init)))
        #expect(try await has(stage, users) == users.map { _ in "false" })
        #expect(try await stage.broken() == [])
        await stage.close()
    }

    /// All moves in one batch: a composed user's purchase goes to the decomposed one.
    @Test func aPurchaseMovesWithinAPair() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        let pairs = try await users(stage)
        for (index, pair) in pairs.enumerated() { try await stage.submit(pair.0, "\(index)") }
        _ = try await commit(stage, lease) { inForce($0) }
        for (index, pair) in pairs.enumerated() { try await stage.submit(pair.1, "\(index)") }
        var policy = Policy()
        policy.shared = .move
        let moved = try await commit(stage, lease, policy) { inForce($0) }
        #expect(moved.events.count == 2 * pairs.count)
        for (from, to) in pairs {
            #expect(
                moved.events.filter { $0.userID == UserID(from) }.map(\.kind)
                    == [.revoke(.transferred)])
            #expect(
                moved.events.filter { $0.userID == UserID(to) }.map(\.kind)
                    == [.grant(.transferred)])
        }
        #expect(try await has(stage, pairs.map(\.0)) == pairs.map { _ in "false" })
        #expect(try await has(stage, pairs.map(\.1)) == pairs.map { _ in "true" })
        #expect(try await stage.broken() == [])
        await stage.close()
    }

    /// The same purchase of Apple in two forms, each handed in by one of a pair, in one batch: the
    /// first has it, and the claim of the other is noted.
    @Test func aTwinOfAPairIsFolded() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        let pairs = try await users(stage)
        for (index, pair) in pairs.enumerated() {
            try await stage.submit(pair.0, "receipt \(index)", store: "apple")
            try await stage.submit(pair.1, "\(1000 + index)", store: "apple")
        }
        let report = try await commit(stage, lease) { claim in
            var observation = inForce(claim)
            let number = (claim.purchase.id - (claim.purchase.id - 1) % 2)
            observation.originalID = OrderID("\(number)")
            return observation
        }
        let claimed = try await stage.list(
            "SELECT user_id FROM renewald.claimant ORDER BY user_id COLLATE \"C\"")
        #expect(claimed.map(UserID.init) == pairs.map { UserID($0.1) }.sorted())
        let firsts = pairs.map { UserID($0.0) }.sorted()
        #expect(
            report.events.filter { $0.kind == .grant(.purchased) }.map(\.userID).sorted()
                == firsts)
        #expect(try await has(stage, pairs.map(\.0)) == pairs.map { _ in "true" })
        #expect(try await has(stage, pairs.map(\.1)) == pairs.map { _ in "false" })
        #expect(try await stage.broken() == [])
        await stage.close()
    }

    /// A product grants its own id, so that both names are products and entitlements of one user;
    /// and the apps are two lanes.
    @Test func productsEntitlementsAndAppsOfAPairAreTwo() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        for (number, pair) in Self.pairs.enumerated() {
            for name in [pair.0, pair.1] {
                try await stage.submit(
                    "ann", "\(number) \(Array(name.utf8))", app: name, product: name)
            }
        }
        let names = Self.pairs.flatMap { [$0.0, $0.1] }
        let lanes = try await stage.ledger.allLanes()
        #expect(Set(lanes.map(\.app.id)) == Set(names.map(AppID.init)))
        let report = try await commit(stage, lease) {
            inForce($0, product: $0.purchase.facts.product)
        }
        #expect(Set(report.events.compactMap(\.entitlement)) == Set(names.map(EntitlementID.init)))
        for name in names { #expect(try await has(stage, ["ann"], name) == ["true"]) }
        #expect(
            try await stage.number("SELECT count(*) FROM renewald.offers") == Int64(names.count))
        try await stage.makeAllDue()
        let ended = try await commit(stage, lease) { claim in
            over(claim, product: claim.purchase.facts.product)
        }
        #expect(ended.events.map(\.kind) == names.map { _ in .revoke(.cancelled) })
        for name in names { #expect(try await has(stage, ["ann"], name) == ["false"]) }
        #expect(try await stage.broken() == [])
        await stage.close()
    }

    /// Only then are unique keys and joins by bytes, whatever the database was created with.
    @Test func everyColumnComparesBytes() async throws {
        let stage = try await Stage()
        #expect(
            try await stage.list(
                """
                SELECT attrelid::regclass || '.' || attname FROM pg_attribute
                JOIN pg_class ON pg_class.oid = attrelid
                JOIN pg_collation ON pg_collation.oid = attcollation
                WHERE relnamespace = 'renewald'::regnamespace AND NOT collisdeterministic
                """) == [])
        await stage.close()
    }

    /// A book that is not there undoes the batch and is told: what else is in it is committed.
    @Test func aUserWithoutAnAccountIsRefusedAndTheOthersGoOn() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        let claims = try await stage.claims(of: ["ann", "bob", "cyd"], lease)
        try await stage.beside.script("DELETE FROM renewald.account WHERE user_id = 'bob'")
        let report = try await stage.ledger.commit(
            claims.map { outcome($0, inForce($0)) }, under: lease, at: claims.latest)
        #expect(report.refused.map(\.claim.purchase.userID) == ["bob"])
        #expect(report.committed.map(\.claim.purchase.userID).sorted() == ["ann", "cyd"])
        #expect(report.events.map(\.userID).sorted() == ["ann", "cyd"])
        #expect(
            try await stage.list(
                """
                SELECT state || ' ' || split_part(problem, ':', 1) FROM renewald.purchases
                WHERE user_id = 'bob'
                """) == ["new malformed"])
        await stage.close()
    }
}
