import Ledger
import Postgres
import Renewal
import Testing

/// What is exported and read into another database: the same users have the same purchases there.
@Suite(.serialized) struct ExportTests {
    /// A user and a form of one and the same purchase; a point is a pass.
    private static let stories = [
        // Both forms, and the first user once more: the other has lost it.
        (Policy.Shared.move, "una 1000 . ben receipt . . una 1000 .", "una", "-"),
        (.move, "una receipt . ben 1000 . . una receipt .", "una", "-"),
        (.move, "una 1000 . ben receipt . .", "ben", "-"),
        (.move, "una 1000 ben receipt . . una receipt . una 1000 .", "una", "-"),
        // The last to claim it came with the first form, after one with another.
        (.keep, "una 1000 . ben receipt . . cid 1000 .", "una", "cid"),
        (.keep, "una 1000 . ben receipt cid receipt . . ben 1000 .", "una", "ben"),
        // Read in, the owner's second form would take the claim back.
        (.keep, "una 1000 . una receipt . ben 1000 .", "una", "ben"),
        (.keep, "una 1000 . ben 1000 . una receipt .", "una", "-"),
    ]

    @Test(arguments: stories)
    func whoHasAPurchaseHasItWhereItIsReadIn(
        _ shared: Policy.Shared, _ story: String, _ owner: String, _ claimant: String
    ) async throws {
        let first = try await Stage()
        let lease = try await first.takeAll()
        var words = story.split(separator: " ").map(String.init)[...]
        while let word = words.popFirst() {
            if word == "." {
                try await Self.pass(first, lease, shared)
            } else if let token = words.popFirst() {
                try await first.submit(word, token, store: "apple")
            }
        }
        #expect(try await Self.whose(first) == ["\(owner) \(claimant)"])
        let second = try await Self.copied(first)
        var told: [Event] = []
        let newLease = try await second.takeAll()
        for _ in 0..<3 { told += try await Self.pass(second, newLease, shared) }
        #expect(told.filter { $0.userID.text != owner } == [])
        #expect(told.map(\.kind).filter { $0 != .notice(.sharedReceipt) } == [])
        #expect(try await Self.whose(second) == ["\(owner) \(claimant)"])
        await first.close()
        await second.close()
    }

    /// Claims of one transaction have one time: who came last comes last all the same.
    @Test(arguments: [Policy.Shared.keep, .move], ["ben", "cid"])
    func theLastOfOneTransactionComesLast(_ shared: Policy.Shared, _ last: String) async throws {
        let first = try await Stage()
        let lease = try await first.takeAll()
        try await first.submit("una", "1000", store: "apple")
        try await Self.pass(first, lease, .keep)
        try await first.beside.script("BEGIN")
        for user in last == "ben" ? ["cid", "ben"] : ["ben", "cid"] {
            try await first.submit(user, "1000", store: "apple")
        }
        try await first.beside.script("COMMIT")
        let users = try await first.ledger.export(after: 0)?.purchases.map(\.userID.text)
        #expect(users == ["una", last == "ben" ? "cid" : "ben", last])
        let second = try await Self.copied(first)
        let newLease = try await second.takeAll()
        for _ in 0..<2 { try await Self.pass(second, newLease, shared) }
        let expected = shared == .keep ? "una \(last)" : "\(last) -"
        #expect(try await Self.whose(second) == [expected])
        await first.close()
        await second.close()
    }

    /// A page of which nothing is written is not the end.
    @Test func whatIsLeftOutEndsNothing() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        try await stage.submit("una", "1000", store: "apple")
        try await stage.submit("ben", "receipt", store: "apple")
        for _ in 0..<2 { try await Self.pass(stage, lease, .keep) }
        let last = try await stage.submit("cid", "other")
        let rest = try await stage.ledger.export(after: 1)
        #expect(rest?.purchases.map(\.userID) == ["cid"] && rest?.last == last)
        try await stage.beside.script("UPDATE renewald.purchase SET claimed_by = NULL")
        #expect(try await stage.ledger.export(after: last - 1)?.purchases.count == 1)
        #expect(try await stage.ledger.export(after: last) == nil)
        await stage.close()
    }

    // MARK: Acting

    /// Apple names the same original id for all forms.
    @discardableResult
    private static func pass(
        _ stage: Stage, _ lease: Lease, _ shared: Policy.Shared
    ) async throws -> [Event] {
        try await stage.makeAllDue()
        let claims = try await stage.due(lease).filter { claim in
            claim.purchase.facts.state != .superseded
        }
        return try await stage.ledger.commit(
            claims.map { claim in
                var observation = inForce(claim)
                observation.originalID = "1000"
                return outcome(claim, observation, shared)
            }, under: lease, at: claims.latest
        ).events
    }

    private static func whose(_ stage: Stage) async throws -> [String] {
        try await stage.list(
            """
            SELECT user_id || ' ' || coalesce(claimed_by, '-') FROM renewald.purchase
            WHERE state = 'active' ORDER BY id
            """)
    }

    /// Another database, into which it was read.
    private static func copied(_ stage: Stage) async throws -> Stage {
        let other = try await Stage()
        var last = Int64(0)
        while let page = try await stage.ledger.export(after: last) {
            var batch = ImportBatch()
            for purchase in page.purchases {
                batch.add(
                    userID: purchase.userID, store: purchase.app.store.rawValue,
                    app: purchase.app.id, product: purchase.product, token: purchase.token,
                    storeUserID: purchase.storeUserID)
            }
            _ = try await other.ledger.takeIn(batch, isBaseline: true, from: nil) { _ in
                ImportPlace(reading: "")
            }
            last = page.last
        }
        return other
    }
}
