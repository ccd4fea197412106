import Postgres
import Renewal
import Testing

@testable import Ledger

/// What is handed in again: as it was, with a correction, or as another product of the same receipt.
@Suite(.serialized) struct ResubmitTests {
    /// Rejected twice, as by a store that was asked with the wrong user: invalid, never granted.
    private func rejectedTwice(
        _ stage: Stage, _ lease: Lease
    ) async throws {
        for _ in 0..<2 {
            let claims = try await stage.due(lease)
            _ = try await stage.ledger.commit(
                claims.map { outcome($0, .failure(.rejected(reason: "status 497"))) },
                under: lease, at: claims.latest)
            try await stage.beside.script(
                """
                UPDATE renewald.purchase SET doubt_since = doubt_since - interval '1 day'
                WHERE doubt IS NOT NULL;
                UPDATE renewald.schedule SET due_at = clock_timestamp() - interval '1 second'
                """)
        }
        #expect(
            try await stage.list("SELECT DISTINCT state FROM renewald.purchases") == ["invalid"])
        try await stage.beside.script(
            "UPDATE renewald.schedule SET due_at = now() + interval '1 day'")
    }

    @Test func whatNeverWasGrantedIsAskedAboutAsCorrectedAtOnce() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        let id = try await stage.submit("ann", "receipt", store: "amazon", storeUser: "wrong")
        try await stage.submit("bob", "token", product: "wrong")
        try await rejectedTwice(stage, lease)
        #expect(
            try await stage.submit("ann", "receipt", store: "amazon", storeUser: "right") == id)
        try await stage.submit("bob", "token", product: "right")
        let due = try await stage.due(lease)
        #expect(due.map(\.purchase.storeUserID) == ["right", nil])
        #expect(
            try await stage.list("SELECT product FROM renewald.purchases ORDER BY id")
                == ["pro", "right"])
        // What was heard of the question before says nothing of this one.
        #expect(
            due.allSatisfy { $0.purchase.facts.state == .new && $0.purchase.facts.doubt == nil })
        #expect(
            try await stage.list("SELECT problem FROM renewald.purchases") == ["-", "-"])
        let report = try await stage.ledger.commit(
            due.map { outcome($0, inForce($0)) }, under: lease, at: due.latest)
        #expect(report.events.map(\.kind) == [.grant(.purchased), .grant(.purchased)])
        #expect(try await stage.broken() == [])
        // Corrected once: the same again is nothing new.
        let before = try await stage.everything()
        try await stage.submit("ann", "receipt", store: "amazon", storeUser: "right")
        #expect(try await stage.everything() == before)
    }

    /// An answer to the question as it was must not be taken for one to the corrected question.
    @Test func anAnswerFromBeforeTheCorrectionIsDropped() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        try await stage.submit("ann", "receipt", store: "amazon", storeUser: "wrong")
        let claims = try await stage.due(lease)
        try await stage.submit("ann", "receipt", store: "amazon", storeUser: "right")
        let report = try await stage.ledger.commit(
            claims.map { outcome($0, inForce($0)) }, under: lease, at: claims.latest)
        #expect(report.dropped == claims)
        #expect(try await stage.due(lease).map(\.purchase.storeUserID) == ["right"])
    }

    @Test func onlyItsOwnerCorrectsIt() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        let id = try await stage.submit("ann", "receipt", store: "amazon", storeUser: "hers")
        #expect(try await stage.submit("bob", "receipt", store: "amazon", storeUser: "his") == id)
        let claim = try #require(try await stage.due(lease).first)
        #expect(claim.purchase.userID == "ann")
        #expect(claim.purchase.storeUserID == "hers")
    }

    /// A receipt belongs to one Amazon user: who names another one than was asked about in vain has
    /// it from now on, with all its rows; before that, and once it was found, it stays.
    @Test func whoNamesAnotherAmazonUserHasWhatWasNeverFound() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        func submit(_ user: String, _ storeUser: String) async throws -> Int64 {
            try await stage.submit(user, "receipt", store: "amazon", storeUser: storeUser)
        }
        let id = try await submit("ann", "wrong")
        try await rejectedTwice(stage, lease)
        // The same Amazon user again is nothing new.
        #expect(try await submit("cid", "wrong") == id)
        #expect(try await stage.list("SELECT user_id FROM renewald.purchases") == ["ann"])
        #expect(try await submit("bob", "right") == id)
        #expect(
            try await stage.list("SELECT user_id || ' ' || state FROM renewald.purchases")
                == ["bob new"])
        #expect(
            try await stage.list("SELECT user_id FROM renewald.claimant ORDER BY 1")
                == ["ann", "cid"])
        #expect(try await stage.broken() == [])
        let claims = try await stage.due(lease)
        #expect(claims.map(\.purchase.userID) == ["bob"])
        #expect(claims.map(\.purchase.storeUserID) == ["right"])
        let report = try await stage.ledger.commit(
            claims.map { outcome($0, inForce($0), .move) }, under: lease, at: claims.latest)
        #expect(report.events.map(\.userID) == ["bob"])
        #expect(try await stage.list("SELECT renewald.has('bob', 'pro')::text") == ["true"])
        // It was found: whoever else hands it in is one who claims it, as ever.
        #expect(try await submit("dora", "other") == id)
        #expect(try await stage.list("SELECT user_id FROM renewald.purchases") == ["bob"])
        #expect(
            try await stage.list("SELECT DISTINCT store_user_id FROM renewald.credential")
                == ["right"])
        #expect(try await stage.broken() == [])
    }

    /// Google's first version refuses a token that is asked about as another product than it is.
    @Test func whoNamesAnotherGoogleProductHasWhatWasNeverFound() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        try await stage.submit("ann", "token", product: "typo")
        try await rejectedTwice(stage, lease)
        // The same product again is nothing new.
        try await stage.submit("bob", "token", product: "typo")
        #expect(try await stage.list("SELECT user_id FROM renewald.purchases") == ["ann"])
        try await stage.submit("bob", "token", product: "pro")
        let claim = try #require(try await stage.due(lease).first)
        #expect(claim.purchase.userID == "bob" && claim.purchase.facts.product == "pro")
        _ = try await stage.ledger.commit(
            [outcome(claim, inForce(claim))], under: lease, at: claim.claimedAt)
        #expect(try await stage.list("SELECT user_id FROM renewald.purchases") == ["bob"])
        // It was found: whoever else hands it in is one who claims it, as ever.
        try await stage.submit("ann", "token", product: "typo")
        #expect(
            try await stage.list("SELECT user_id || ' ' || product FROM renewald.purchases")
                == ["bob pro"])
        #expect(try await stage.broken() == [])
    }

    /// What is kept of the last answer counts on: nothing of it has changed.
    @Test func whatWasHeardStaysSo() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        try await stage.submit("ann", "token")
        func hear() async throws {
            try await stage.makeAllDue()
            let claim = try #require(try await stage.due(lease).first)
            _ = try await stage.ledger.commit(
                [outcome(claim, inForce(claim))], under: lease, at: claim.claimedAt)
        }
        func isHeard() async throws -> Bool {
            let users = try await stage.ledger.users(after: nil, limit: 9).filter {
                $0.userID == "ann"
            }
            return try await stage.ledger.kept(of: users).purchases.first?.heard != nil
        }
        try await hear()
        #expect(try await isHeard())
        try await stage.submit("bob", "token")
        #expect(try await isHeard())
        try await hear()
        try await stage.submit("ann", "token")
        #expect(try await isHeard())
        // Changed since by what no store has said.
        try await stage.beside.script("UPDATE renewald.purchase SET version = version + 1")
        try await stage.submit("ann", "token")
        #expect(try await isHeard() == false)
        #expect(try await stage.broken() == [])
    }

    /// What was asked about when it was handed over is not answered for its new user.
    @Test func anAnswerFromBeforeItWasHandedOverIsDropped() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        try await stage.submit("ann", "receipt", store: "amazon", storeUser: "wrong")
        try await rejectedTwice(stage, lease)
        try await stage.makeAllDue()
        let claims = try await stage.due(lease)
        try await stage.submit("bob", "receipt", store: "amazon", storeUser: "right")
        let report = try await stage.ledger.commit(
            claims.map { outcome($0, inForce($0)) }, under: lease, at: claims.latest)
        #expect(report.dropped == claims && report.events.isEmpty)
        #expect(try await stage.broken() == [])
    }

    @Test func whatIsGrantedAndFineCostsNothing() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        let claims = try await stage.claims(of: ["ann"], lease)
        _ = try await stage.ledger.commit(
            claims.map { outcome($0, inForce($0)) }, under: lease, at: claims.latest)
        let before = try await stage.everything()
        for _ in 0..<3 { try await stage.submit("ann", "token of ann") }
        #expect(try await stage.everything() == before)
        // As another product: perhaps it was changed for that. Asked about, not believed.
        try await stage.beside.script(
            "UPDATE renewald.schedule SET checked_at = checked_at - interval '1 minute'")
        try await stage.submit("ann", "token of ann", product: "gold")
        #expect(try await stage.due(lease).map(\.purchase.facts.product) == ["pro"])
        let asked = try await stage.everything()
        try await stage.submit("ann", "token of ann", product: "gold")
        #expect(try await stage.everything() == asked)
    }

    /// Seconds after a check it is asked soon: not at once, so that nobody is asked without end, and not
    /// a day later.
    @Test func isAskedTenSecondsAfterTheLastVerdict() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        let claims = try await stage.claims(of: ["ann", "bob", "cid"], lease)
        _ = try await stage.ledger.commit(
            [
                outcome(claims[0], over(claims[0])), outcome(claims[1], inForce(claims[1])),
                outcome(claims[2], inForce(claims[2])),
            ], under: lease, at: claims.latest)
        // What is in force by our books, but has passed its end, is asked about as well.
        try await stage.beside.script(
            """
            UPDATE renewald.purchase SET expires_at = now() - interval '1 second'
            WHERE user_id = 'cid'
            """)
        for user in ["ann", "bob", "cid"] { try await stage.submit(user, "token of \(user)") }
        let waits = """
            SELECT user_id || ' ' || (next_check_at - checked_at) FROM renewald.purchases
            WHERE next_check_at <= checked_at + interval '1 minute' ORDER BY 1
            """
        #expect(try await stage.due(lease).isEmpty)
        #expect(try await stage.list(waits) == ["ann 00:00:10", "cid 00:00:10"])
        try await stage.beside.script(
            "UPDATE renewald.schedule SET checked_at = checked_at - interval '11 seconds'")
        for user in ["ann", "bob", "cid"] { try await stage.submit(user, "token of \(user)") }
        #expect(try await stage.due(lease).map(\.purchase.userID) == ["ann", "cid"])
    }

    /// After the database's clock was set back: checked in the future, and made due anew there.
    @Test func isAskedNowWhereItSeemsToHaveBeenCheckedLater() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        let claims = try await stage.claims(of: ["ann"], lease)
        _ = try await stage.ledger.commit(
            claims.map { outcome($0, over($0)) }, under: lease, at: claims.latest)
        try await stage.beside.script(
            """
            UPDATE renewald.schedule SET checked_at = now() + interval '3 hours';
            UPDATE renewald.credential SET interrupted_at = now() + interval '3 hours'
            """)
        try await stage.submit("ann", "token of ann")
        let due = try await stage.due(lease)
        #expect(due.count == 1)
        _ = try await stage.ledger.mark([due[0].shard: [due[0].purchase.id]], under: lease)
        try await stage.submit("ann", "token of ann")
        let report = try await stage.ledger.commit(
            due.map { outcome($0, over($0)) }, under: lease, at: due.latest)
        #expect(report.dropped == due)
    }

    /// The answer that is on its way may be older than what the user has bought just now. Not without
    /// end: who submits again and again must be answered.
    @Test func whatIsBeingAskedAboutIsAskedAnewOnce() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        func inFlight() async throws -> [Claim] {
            let claims = try await stage.due(lease)
            let ids = Dictionary(grouping: claims, by: \.shard).mapValues { $0.map(\.purchase.id) }
            _ = try await stage.ledger.mark(ids, under: lease)
            try await stage.submit("ann", "token")
            return claims
        }
        // The first check is about what has just been submitted.
        try await stage.submit("ann", "token")
        for (round, isDropped) in [false, true, false].enumerated() {
            let claims = try await inFlight()
            #expect(claims.count == 1)
            let report = try await stage.ledger.commit(
                claims.map { outcome($0, over($0)) }, under: lease, at: claims.latest)
            #expect(report.dropped.count == (isDropped ? 1 : 0), "round \(round)")
            // Long enough after the last verdict.
            try await stage.beside.script(
                """
                UPDATE renewald.schedule SET checked_at = checked_at - interval '1 minute',
                    due_at = clock_timestamp() - interval '1 second'
                """)
        }
    }

    /// As base64 of a sequence in ASN.1, as what a client has encoded twice, and what is none.
    @Test(arguments: ["MIIT4gYJ+/KoZIhvcNAQcCoIIT0zCC", "TUlJVDRnWUo=", "MIAGCSqGSIb3DQEHAqCA"])
    func anAppReceiptIsOnePurchaseAProduct(_ receipt: String) async throws {
        let stage = try await Stage()
        func submit(_ user: String, _ product: String, _ token: String? = nil) async throws -> Int64
        {
            try await stage.submit(user, token ?? receipt, store: "apple", product: product)
        }
        let first = try await submit("ann", "pro")
        let second = try await submit("ann", "gold")
        #expect(first != second)
        #expect(try await submit("ann", "pro") == first)
        #expect(try await submit("ann", "gold", " \(receipt)\n") == second)
        #expect(
            try await stage.list("SELECT product FROM renewald.purchases ORDER BY id")
                == ["pro", "gold"])
        // Another user's is a claim of the one that is meant.
        #expect(try await submit("bob", "gold") == second)
        #expect(try await stage.list("SELECT id::text FROM renewald.claimant") == ["\(second)"])
        // Elsewhere the token alone is the identity.
        for (store, token) in [
            ("apple", "1000000123456789"), ("apple", "eyJ.MI.x"), ("apple", "ewoJInNpZ25hdHVyZSI"),
            ("google", receipt),
        ] {
            let id = try await stage.submit("ann", token, store: store, product: "pro")
            #expect(try await stage.submit("ann", token, store: store, product: "gold") == id)
        }
        #expect(try await stage.broken() == [])
    }

    /// One of two products of a receipt goes, the other stays where it is.
    @Test func oneProductOfAReceiptMovesAlone() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        for product in ["pro", "gold"] {
            try await stage.submit("ann", "MIIreceipt", store: "apple", product: product)
        }
        func check() async throws -> [Event] {
            let claims = try await stage.due(lease)
            let outcomes = claims.map { claim in
                var answer = inForce(claim, product: claim.purchase.facts.product)
                answer.originalID = "of \(claim.purchase.facts.product)"
                return outcome(claim, answer, .move)
            }
            return try await stage.ledger.commit(outcomes, under: lease, at: claims.latest).events
        }
        #expect(try await check().map(\.kind) == [.grant(.purchased), .grant(.purchased)])
        try await stage.submit("bob", "MIIreceipt", store: "apple", product: "gold")
        #expect(try await check().map(\.kind) == [.revoke(.transferred), .grant(.transferred)])
        #expect(
            try await stage.list(
                "SELECT user_id || ' ' || product FROM renewald.purchases ORDER BY id")
                == ["ann pro", "bob gold"])
        #expect(try await stage.broken() == [])
        // Each key still leads to its own.
        for (user, product) in [("ann", "pro"), ("bob", "gold")] {
            let before = try await stage.everything()
            try await stage.submit(user, "MIIreceipt", store: "apple", product: product)
            #expect(try await stage.everything() == before)
        }
    }

    @Test func userIDsMayBeNumbersOrUUIDs() async throws {
        let stage = try await Stage()
        let uuid = "0B7E0C52-7c0a-4c1e-9d61-3a5f4f0c9a11"
        for (call, user) in [
            ("17", "17"), ("9223372036854775807", "9223372036854775807"), ("'17'", "17"),
            ("17::smallint", "17"), ("'ann'", "ann"), ("'ann'::varchar", "ann"),
            ("'\(uuid)'::uuid", uuid.lowercased()),
        ] {
            let ids = try await stage.list(
                "SELECT renewald.submit(\(call), 'google', 'app', 'pro', 'token of \(user)')::text")
            #expect(
                try await stage.list(
                    "SELECT user_id FROM renewald.purchases WHERE id = \(ids[0])") == [user])
            #expect(
                try await stage.list("SELECT renewald.has(\(call), 'pro')::text") == ["false"])
            try await stage.beside.script(
                """
                INSERT INTO renewald.entitlement (shard, user_id, entitlement, active, in_grace,
                    reason, store, product, purchase_id)
                VALUES (renewald.shard_of('\(user)'), '\(user)', 'pro', true, false, 'purchased',
                    'google', 'pro', \(ids[0]))
                """)
            #expect(try await stage.list("SELECT renewald.has(\(call), 'pro')::text") == ["true"])
            try await stage.beside.script("DELETE FROM renewald.entitlement")
        }
        await #expect(throws: PostgresError.self) {
            try await stage.list("SELECT renewald.submit(NULL::int8, 'google', 'a', 'p', 't')")
        }
    }
}
