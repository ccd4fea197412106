import Ledger
import Postgres
import Renewal
import TestSupport
import Testing

@testable import Daemon

/// What is encrypted at rest, and what becomes of it, on a real database.
@Suite(.serialized) struct EncryptionTests {
    private static let token = "planted-token-of-ann"

    @Test func aBackupHoldsNoTokenReceiptOrAnswer() async throws {
        let fleet = try await EncryptedFleet()
        let receipt = "planted" + String(repeating: "receipt", count: 40_000)
        try await fleet.submit("ann", Self.token)
        try await fleet.submit("ben", receipt)
        // Without a key nothing is encrypted, and what is looked for would be found.
        try await fleet.check()
        #expect(try await fleet.number("SELECT count(*) FROM renewald.data_key") == 0)
        let before = try await fleet.dump()
        #expect(before.contains(Self.token) && before.contains("answer of a store, planted"))

        let other = try await EncryptedFleet()
        other.ledger.use(EncryptedFleet.cipher(1))
        try await other.submit("ann", Self.token)
        try await other.submit("ben", receipt)
        #expect(try await other.check().committed.count == 2)
        let dump = try await other.dump()
        #expect(dump.contains("com.example.reader"))
        #expect(!dump.contains("planted"))
        // And all of it can be read where the key is.
        let reader = other.furtherLedger(EncryptedFleet.cipher(2, 1))
        #expect(try await other.tokens(by: reader) == [1: Self.token, 2: receipt])
        let history = try await reader.history(ofUser: "ann")
        #expect(
            history.purchases.flatMap(\.evidence).flatMap(\.evidence.calls).map(\.raw)
                == ["answer of a store, planted for \(Self.token)"])
        let exported = try await reader.export(after: 0)
        #expect(exported?.purchases.map(\.token.text) == [Self.token, receipt])
        // The same token is the same purchase still.
        #expect(try await other.submit("ann", Self.token) == 1)
        #expect(try await other.submit("cid", receipt) == 2)
        await reader.close()
        await fleet.close()
        await other.close()
    }

    @Test func aCheckThatFindsNothingNewWritesNoCredentialAgain() async throws {
        let fleet = try await EncryptedFleet()
        fleet.ledger.use(EncryptedFleet.cipher(1))
        try await fleet.submit("ann", Self.token)
        try await fleet.check()
        let written = try await fleet.list("SELECT xmin::text FROM renewald.credential")
        let evidence = try await fleet.number("SELECT count(*) FROM renewald.evidence")
        #expect(try await fleet.check().committed.count == 1)
        #expect(try await fleet.list("SELECT xmin::text FROM renewald.credential") == written)
        #expect(try await fleet.number("SELECT count(*) FROM renewald.evidence") == evidence)
        await fleet.close()
    }

    @Test func whatWasSwappedOrAlteredIsSetAsideAndItsNeighboursGoOn() async throws {
        let fleet = try await EncryptedFleet()
        fleet.ledger.use(EncryptedFleet.cipher(1))
        for user in ["ann", "ben", "cid", "dan"] {
            try await fleet.submit(user, "token of \(user)")
        }
        try await fleet.check()
        try await fleet.script(
            """
            UPDATE renewald.credential SET sealed = (
                SELECT other.sealed FROM renewald.credential AS other WHERE other.id = 2)
            WHERE id = 1;
            UPDATE renewald.credential
            SET sealed = set_byte(sealed, 30, get_byte(sealed, 30) # 1) WHERE id = 3
            """)
        let (lease, claims) = try await fleet.claim()
        #expect(claims.map(\.purchase.userID) == ["ben", "dan"])
        #expect(try await fleet.commit(claims, lease).committed.count == 2)
        let problems = try await fleet.problems()
        #expect(problems.count == 2)
        for (problem, user) in zip(problems, ["ann", "cid"]) {
            #expect(problem.hasPrefix("\(user) set_aside: its row cannot be read"))
            #expect(problem.contains("altered"))
        }
        // Access stays as it was.
        #expect(try await fleet.list("SELECT renewald.has('ann', 'pro')::text") == ["true"])
        await fleet.close()
    }

    @Test func anAnswerBelongsToItsCheck() async throws {
        let fleet = try await EncryptedFleet()
        fleet.ledger.use(EncryptedFleet.cipher(1))
        try await fleet.submit("ann", Self.token)
        try await fleet.submit("ben", "another")
        try await fleet.check()
        try await fleet.script(
            """
            UPDATE renewald.evidence SET sealed_bodies = (
                SELECT other.sealed_bodies FROM renewald.evidence AS other
                WHERE other.purchase_id = 2)
            WHERE purchase_id = 1
            """)
        let ann = try await fleet.ledger.history(ofUser: "ann")
        #expect(ann.purchases.flatMap(\.evidence).flatMap(\.evidence.calls).map(\.raw) == [nil])
        let ben = try await fleet.ledger.history(ofUser: "ben")
        #expect(ben.purchases.flatMap(\.evidence).flatMap(\.evidence.calls).first?.raw != nil)
        await fleet.close()
    }

    @Test func aWorkerWithoutTheKeyLeavesAPurchaseAloneUntilItHasIt() async throws {
        let fleet = try await EncryptedFleet()
        let newer = fleet.furtherLedger(EncryptedFleet.cipher(2, 1))
        try await fleet.submit("ann", Self.token)
        try await fleet.check(by: newer)
        // One whose list is older, on its own, and beside what it can read.
        fleet.ledger.use(EncryptedFleet.cipher(1))
        try await fleet.submit("ben", "another")
        let (_, claims) = try await fleet.claim()
        #expect(claims.map(\.purchase.userID) == ["ben"])
        let problems = try await fleet.problems()
        #expect(problems.count == 1)
        #expect(problems[0].hasPrefix("ann unsupported: its token is encrypted with key "))
        #expect(problems[0].contains("\(EncryptedFleet.id(of: 2))"))
        #expect(
            try await fleet.number(
                """
                SELECT count(*) FROM renewald.schedule
                WHERE due_at BETWEEN now() AND now() + interval '5 minutes'
                """) == 1)
        await #expect(
            throws: LedgerError.keysMissing(names: ["key \(EncryptedFleet.id(of: 2))"])
        ) { try await fleet.ledger.requireKeys() }
        // It heals by itself.
        fleet.ledger.use(EncryptedFleet.cipher(2, 1))
        try await fleet.ledger.requireKeys()
        #expect(try await fleet.check().committed.count == 2)
        #expect(try await fleet.problems() == [])
        await newer.close()
        await fleet.close()
    }

    @Test func aPurchaseMovesAndIsCopiedWithItsToken() async throws {
        for shared in [Policy.Shared.move, .allow] {
            let fleet = try await EncryptedFleet()
            fleet.ledger.use(EncryptedFleet.cipher(1))
            let id = try await fleet.submit("ann", Self.token)
            try await fleet.check()
            #expect(try await fleet.submit("ben", Self.token) == id)
            for _ in 0..<3 { try await fleet.check(shared: shared) }
            #expect(try await fleet.list("SELECT renewald.has('ben', 'pro')::text") == ["true"])
            let tokens = try await fleet.tokens()
            #expect(tokens.count == (shared == .allow ? 2 : 1))
            #expect(Set(tokens.values) == [Self.token])
            // The copy has been encrypted for itself by its own check.
            #expect(
                try await fleet.number(
                    "SELECT count(*) FROM renewald.credential WHERE sealed_as IS NOT NULL") == 0)
            // The key of the token has moved too: it is the same purchase for a third.
            #expect(try await fleet.submit("cid", Self.token) == id)
            #expect(
                try await fleet.number(
                    """
                    SELECT count(*) FROM renewald.token_key JOIN renewald.purchase
                    USING (shard, id)
                    """) == 1)
            #expect(!(try await fleet.dump()).contains("planted"))
            await fleet.close()
        }
    }

    @Test func whatTheStoreNamesIsEncryptedToo() async throws {
        let fleet = try await EncryptedFleet()
        fleet.ledger.use(EncryptedFleet.cipher(1))
        try await fleet.submit("ann", Self.token)
        try await fleet.check { claim in
            var heard = KeptFleet.inForce(claim)
            heard.nextToken = "planted-name"
            return heard
        }
        #expect(try await fleet.tokens() == [1: "planted-name"])
        #expect(!(try await fleet.dump()).contains("planted"))
        // What was submitted is kept beside it.
        #expect(
            try await fleet.ledger.export(after: 0)?.purchases.map(\.token.text) == [Self.token])
        await fleet.close()
    }

    @Test func aProgramThatReadsNoEncryptionIsServedNoMore() async throws {
        let fleet = try await EncryptedFleet()
        let before = try await fleet.ledger.requireFittingSchema()
        #expect(before.refusal(ofProgramFor: 16, oldest: 16) == nil)
        fleet.ledger.use(EncryptedFleet.cipher(1))
        try await fleet.submit("ann", Self.token)
        try await fleet.check()
        let after = try await fleet.ledger.requireFittingSchema()
        #expect(after.serves == 17)
        #expect(after.refusal(ofProgramFor: 16, oldest: 16) != nil)
        await fleet.close()
    }

    @Test func aNewDataKeyFollowsOneThatHasEncryptedEnough() async throws {
        let fleet = try await EncryptedFleet()
        fleet.ledger.use(EncryptedFleet.cipher(1))
        try await fleet.submit("ann", Self.token)
        try await fleet.check()
        try await fleet.script("UPDATE renewald.data_key SET messages = 2147483648")
        let further = fleet.furtherLedger(EncryptedFleet.cipher(1))
        try await fleet.submit("ben", "another")
        try await fleet.check(by: further)
        #expect(
            try await fleet.list(
                """
                SELECT renewald.data_key_of(sealed)::text FROM renewald.credential ORDER BY id
                """) == ["1", "2"])
        #expect(try await fleet.tokens() == [1: Self.token, 2: "another"])
        await further.close()
        await fleet.close()
    }
}
