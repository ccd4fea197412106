import Ledger
import Postgres
import Renewal
import Synchronization
import TestSupport
import Testing

@testable import Daemon

/// `renewald rekey`: from clear to encrypted, from key to key, and back.
@Suite(.serialized) struct RekeyTests {
    private func keysInUse(_ fleet: EncryptedFleet) async throws -> [KeyID] {
        try await fleet.ledger.keysInUse()
    }

    @Test func encryptsRotatesAndDecryptsWithoutALoss() async throws {
        let fleet = try await EncryptedFleet()
        try await fleet.submitMany(30)
        try await fleet.check { claim in
            var heard = KeptFleet.inForce(claim)
            if claim.purchase.id % 3 == 0 {
                heard.nextToken = StoreToken("planted name \(claim.purchase.id)")
            }
            return heard
        }
        let (clear, tokens) = (try await fleet.clearRows(), try await fleet.tokens())
        #expect(tokens.count == 30)

        fleet.ledger.use(EncryptedFleet.cipher(1))
        #expect(try await fleet.ledger.countLeft() == 60)
        let first = try await fleet.ledger.rekey()
        #expect(first.credentials == 30 && first.answers == 30)
        #expect(first.left == 0 && first.unreadable == 0)
        #expect(!(try await fleet.dump()).contains("planted"))
        #expect(try await fleet.tokens() == tokens)
        // Again: nothing is left to do.
        let again = try await fleet.ledger.rekey()
        #expect(again.credentials == 0 && again.answers == 0)

        // Another key: the old one is needed no more.
        fleet.ledger.use(EncryptedFleet.cipher(2, 1))
        let second = try await fleet.ledger.rekey()
        #expect(second.credentials == 30 && second.answers == 30 && second.droppedDataKeys == 1)
        #expect(try await keysInUse(fleet) == [EncryptedFleet.id(of: 2)])
        fleet.ledger.use(EncryptedFleet.cipher(2))
        #expect(try await fleet.tokens() == tokens)

        // Back: byte for byte as it was, and no key is needed.
        fleet.ledger.use(EncryptedFleet.cipher(2, encrypts: false))
        let last = try await fleet.ledger.rekey()
        #expect(last.credentials == 30 && last.droppedDataKeys == 1 && last.left == 0)
        fleet.ledger.use(nil)
        #expect(try await fleet.clearRows() == clear)
        #expect(try await fleet.tokens() == tokens)
        #expect(try await keysInUse(fleet) == [])
        try await fleet.ledger.requireKeys()
        await fleet.close()
    }

    private struct Stop: Error {}

    @Test func goesOnAfterAnInterruption() async throws {
        let fleet = try await EncryptedFleet()
        try await fleet.submitMany(1200)
        let tokens = try await fleet.tokens()
        fleet.ledger.use(EncryptedFleet.cipher(1))
        await #expect(throws: Stop.self) {
            try await fleet.ledger.rekey { report in
                if report.credentials >= 500 { throw Stop() }
            }
        }
        let left = try await fleet.number(
            "SELECT count(*) FROM renewald.credential WHERE token IS NOT NULL")
        #expect(left > 0 && left < 1200)
        // Half and half, each can be read.
        #expect(try await fleet.tokens() == tokens)
        let rest = try await fleet.ledger.rekey()
        #expect(rest.credentials == left && rest.left == 0)
        #expect(try await fleet.tokens() == tokens)
        await fleet.close()
    }

    @Test func twoAtOnceAndADaemonBesideThemLoseNothing() async throws {
        let fleet = try await EncryptedFleet()
        try await fleet.submitMany(600)
        try await fleet.check()
        let tokens = try await fleet.tokens()
        let old = fleet.furtherLedger(EncryptedFleet.cipher(1))
        _ = try await old.rekey()
        // The daemon reads both, and still writes with the older one.
        fleet.ledger.use(EncryptedFleet.cipher(1, 2))
        try await fleet.submit("late", "planted late")
        let ledgers = [
            fleet.furtherLedger(EncryptedFleet.cipher(2, 1)),
            fleet.furtherLedger(EncryptedFleet.cipher(2, 1)),
        ]
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            for ledger in ledgers { tasks.addTask { _ = try await ledger.rekey() } }
            tasks.addTask {
                for period in 2...4 {
                    let report = try await fleet.check { claim in
                        var heard = KeptFleet.inForce(claim)
                        let end = claim.purchase.createdAt + .days(30 * period)
                        heard.period = OrderID("period \(period)")
                        heard.paidThrough = end
                        heard.expiresAt = end
                        return heard
                    }
                    #expect(report.refused.count == 0 && report.dropped.count == 0)
                }
            }
            try await tasks.waitForAll()
        }
        fleet.ledger.use(EncryptedFleet.cipher(2, 1))
        let last = try await fleet.ledger.rekey()
        #expect(last.left == 0 && last.unreadable == 0)
        #expect(try await keysInUse(fleet) == [EncryptedFleet.id(of: 2)])
        var expected = tokens
        expected[601] = "planted late"
        fleet.ledger.use(EncryptedFleet.cipher(2))
        #expect(try await fleet.tokens() == expected)
        #expect(!(try await fleet.dump()).contains("planted"))
        for ledger in ledgers + [old] { await ledger.close() }
        await fleet.close()
    }

    /// A data key that nobody may use any more stays as long as something needs it.
    @Test func whatCannotBeReadKeepsItsKeyAndIsNamed() async throws {
        let fleet = try await EncryptedFleet()
        fleet.ledger.use(EncryptedFleet.cipher(1))
        try await fleet.submitMany(3)
        try await fleet.check()
        try await fleet.script(
            """
            UPDATE renewald.credential
            SET sealed = set_byte(sealed, 30, get_byte(sealed, 30) # 1) WHERE id = 2
            """)
        fleet.ledger.use(EncryptedFleet.cipher(2, 1))
        let report = try await fleet.ledger.rekey()
        #expect(report.credentials == 2 && report.unreadable == 1 && report.droppedDataKeys == 0)
        #expect(report.examples.map(\.purchaseID) == [2])
        let page = try #require(try await fleet.ledger.export(after: 0))
        #expect(page.purchases.map(\.token) == ["planted 1", "planted 3"] && page.last == 3)
        #expect(page.undecipherable == report.examples)
        #expect(
            try await keysInUse(fleet) == [EncryptedFleet.id(of: 1), EncryptedFleet.id(of: 2)])
        // It comes back when it is mended.
        try await fleet.script(
            """
            UPDATE renewald.credential
            SET sealed = set_byte(sealed, 30, get_byte(sealed, 30) # 1) WHERE id = 2
            """)
        let mended = try await fleet.ledger.rekey()
        #expect(mended.credentials == 1 && mended.unreadable == 0 && mended.droppedDataKeys == 1)
        #expect(try await fleet.tokens().count == 3)
        await fleet.close()
    }

    /// A commit that was composed with a data key that is retired before it is written is composed
    /// anew: nothing is encrypted with a key that goes.
    @Test func nothingIsWrittenWithARetiredDataKey() async throws {
        let fleet = try await EncryptedFleet()
        fleet.ledger.use(EncryptedFleet.cipher(1))
        try await fleet.submit("ann", "planted 1")
        try await fleet.check()
        try await fleet.submit("ben", "planted 2")
        let (lease, claims) = try await fleet.claim()
        try await fleet.script("UPDATE renewald.data_key SET retired_at = now()")
        let report = try await fleet.commit(claims, lease)
        #expect(report.committed.count == 2)
        #expect(
            try await fleet.list(
                "SELECT renewald.data_key_of(sealed)::text FROM renewald.credential ORDER BY id")
                == ["1", "2"])
        await fleet.close()
    }
}
