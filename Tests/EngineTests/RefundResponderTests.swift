import Ledger
import Postgres
import Renewal
import Synchronization
import Testing

@testable import Engine

/// Answers to stores, on the real ledger: each once, whatever ends in between.
@Suite(.serialized, .timeLimit(.minutes(3))) struct RefundResponderTests {
    private static let google = AppKey(store: .google, id: "com.example.reader")
    private static let apple = AppKey(store: .apple, id: "com.example.reader")

    /// Where the process ends.
    private enum Step: CaseIterable { case beforeTheRecord, afterTheRecord, afterTheCall }

    private struct Killed: RefundStore {
        let base: PostgresLedger
        let step: Step

        func follow(_ rule: RefundRule) async throws(LedgerError) { try await base.follow(rule) }
        func refundRound(
            of apps: [AppKey], under rule: RefundRule
        ) async throws(LedgerError) -> RefundRound {
            try await base.refundRound(of: apps, under: rule)
        }
        func begin(_ attempt: RefundAttempt) async throws(LedgerError) -> Bool {
            if step == .beforeTheRecord { throw .cancelled }
            let begun = try await base.begin(attempt)
            if step == .afterTheRecord { throw .cancelled }
            return begun
        }
        func end(_ attempt: RefundAttempt, _ ending: RefundEnding) async throws(LedgerError) {
            if step == .afterTheCall { throw .cancelled }
            try await base.end(attempt, ending)
        }
    }

    /// What a store was told, in order.
    private final class Told: Sendable {
        let replies = Mutex<[RefundReply]>([])
        var preferences: [RefundPreference] { replies.withLock { $0.map(\.answer.preference) } }
    }

    private func rule(_ answering: RefundRule.Answering) -> RefundRule {
        var rule = RefundRule()
        rule.answering = answering
        rule.policy = .decline
        rule.wait = .zero
        rule.isConsented = true
        return rule
    }

    /// A house with a question of the app's store.
    private func house(_ app: AppKey) async throws -> House {
        let house = try await House()
        let ledger = house.newLedger()
        _ = try await ledger.configure([app], by: .random())
        await ledger.close()
        try await house.beside.script(
            """
            INSERT INTO renewald.refund_request (lane, digest, original_digest, order_id,
                original_id, environment, news_ids, token, asked_at, answer_by)
            SELECT lane, sha256('order'), sha256('order'), 'order', 'order', 'production', '{1}',
                'pending', now(), now() + interval '12 hours' FROM renewald.app
            """)
        return house
    }

    private func engine(
        _ house: House, _ app: AppKey, _ rule: RefundRule, told: Told, killed: Step? = nil,
        sending: @escaping @Sendable (RefundReply) async -> RefundSending = { _ in .taken }
    ) -> (engine: RenewalEngine, ledger: PostgresLedger) {
        let ledger = house.newLedger()
        var services = house.services(ledger, apps: { [app] })
        services.refundStore = killed.map { Killed(base: ledger, step: $0) } ?? ledger
        services.changeStores {
            $0.replies = { reply in
                told.replies.withLock { $0.append(reply) }
                return await sending(reply)
            }
        }
        var settings = quickSettings()
        settings.refunds = rule
        return (RenewalEngine(settings, services, log: quiet), ledger)
    }

    @discardableResult
    private func pass(
        _ house: House, _ app: AppKey, _ rule: RefundRule, told: Told, killed: Step? = nil,
        sending: @escaping @Sendable (RefundReply) async -> RefundSending = { _ in .taken }
    ) async throws -> String {
        let (engine, ledger) = engine(
            house, app, rule, told: told, killed: killed, sending: sending)
        do {
            try await engine.run(.onePass(limit: nil))
        } catch LedgerError.cancelled where killed != nil {}
        await ledger.close()
        return try await row(house)
    }

    private func row(_ house: House) async throws -> String {
        let row = try await house.beside.query(
            PostgresStatement(
                """
                SELECT concat_ws(' ', state, answer, split_part(problem, ':', 1)) AS row
                FROM renewald.refund_requests
                """))[0]
        return try row.text("row")
    }

    /// A while later: who was sending is taken for dead, and what waits is due.
    private func wait(_ house: House) async throws {
        try await house.beside.script(
            """
            UPDATE renewald.refund_request SET sending_until = now() - interval '1 second'
                WHERE sender IS NOT NULL;
            UPDATE renewald.refund_request SET send_at = now()
            """)
    }

    @Test func nothingIsSentWhileItIsOff() async throws {
        let (house, told) = (try await house(Self.google), Told())
        #expect(try await pass(house, Self.google, rule(.off), told: told) == "open")
        #expect(try await pass(house, Self.google, rule(.app), told: told) == "open")
        try await house.beside.script("SELECT renewald.answer_refund(1, 'grant')")
        // Switched off after it was answered.
        #expect(try await pass(house, Self.google, rule(.off), told: told) == "open grant")
        #expect(told.preferences == [])
        #expect(try await pass(house, Self.google, rule(.app), told: told) == "answered grant")
        #expect(told.preferences == [.grant])
    }

    @Test func aPassAnswersByThePolicyOnce() async throws {
        for app in [Self.google, Self.apple] {
            let (house, told) = (try await house(app), Told())
            for _ in 1...2 {
                #expect(try await pass(house, app, rule(.policy), told: told) == "answered decline")
            }
            #expect(told.preferences == [.decline])
            #expect(told.replies.withLock { $0[0].question.token } == "pending")
        }
    }

    /// Killed at each step, then started again: Google hears it at most once, Apple until it has
    /// said yes, and always the same.
    @Test func whateverEndsInBetweenGoogleIsCalledAtMostOnce() async throws {
        for (app, step, calls, end) in [
            (Self.google, Step.beforeTheRecord, 1, "answered decline"),
            (Self.google, .afterTheRecord, 0, "answered decline unreachable"),
            (Self.google, .afterTheCall, 1, "answered decline unreachable"),
            (Self.apple, .beforeTheRecord, 1, "answered decline"),
            (Self.apple, .afterTheRecord, 1, "answered decline"),
            (Self.apple, .afterTheCall, 2, "answered decline"),
        ] {
            let (house, told) = (try await house(app), Told())
            try await pass(house, app, rule(.policy), told: told, killed: step)
            // Nobody sends it while its sender may be alive.
            let before = told.preferences.count
            if step != .beforeTheRecord {
                try await pass(house, app, rule(.policy), told: told)
                #expect(told.preferences.count == before)
                try await wait(house)
            }
            #expect(
                try await pass(house, app, rule(.policy), told: told) == end, "\(app.store) \(step)"
            )
            try await wait(house)
            try await pass(house, app, rule(.policy), told: told)
            #expect(told.preferences.count == calls, "\(app.store) \(step)")
            #expect(Set(told.replies.withLock { $0.map(\.answer) }).count <= 1)
        }
    }

    @Test func aCallThatWasCutShortIsRepeatedForAppleAlone() async throws {
        let cut: @Sendable (RefundReply) async -> RefundSending = { _ in
            .unknown(.unreachable(reason: "status 503"))
        }
        for (app, first, second, calls) in [
            (Self.google, "answered decline unreachable", "answered decline unreachable", 1),
            (Self.apple, "open decline unreachable", "answered decline", 2),
        ] {
            let (house, told) = (try await house(app), Told())
            #expect(try await pass(house, app, rule(.policy), told: told, sending: cut) == first)
            // Not before its time.
            #expect(try await pass(house, app, rule(.policy), told: told) == first)
            try await wait(house)
            #expect(try await pass(house, app, rule(.policy), told: told) == second)
            #expect(told.preferences.count == calls)
        }
    }

    @Test func whatTheStoreTurnsAwayIsSentAgainOrNever() async throws {
        for (sending, first, calls) in [
            (RefundSending.notSent(.refused(reason: "status 401")), "open decline refused", 2),
            (.refused(reason: "status 400"), "open decline rejected", 1),
        ] {
            let (house, told) = (try await house(Self.google), Told())
            let row = try await pass(
                house, Self.google, rule(.policy), told: told, sending: { _ in sending })
            #expect(row == first)
            if calls == 2 { try await wait(house) }
            try await pass(house, Self.google, rule(.policy), told: told)
            #expect(told.preferences.count == calls)
            // To the deadline and no longer.
            try await house.beside.script(
                "UPDATE renewald.refund_request SET answer_by = now() WHERE state = 'open'")
            try await pass(house, Self.google, rule(.policy), told: told)
            #expect(told.preferences.count == calls)
        }
    }

    @Test func twoWorkersCallOnce() async throws {
        let (house, told) = (try await house(Self.google), Told())
        let slow: @Sendable (RefundReply) async -> RefundSending = { _ in
            // Long enough for the other to look again and again.
            _ = try? await house.number("SELECT count(*) FROM pg_sleep(0.7)")
            return .taken
        }
        let workers = (0..<2).map { _ in
            engine(house, Self.google, rule(.policy), told: told, sending: slow)
        }
        try await workers[0].engine.run {
            try await workers[1].engine.run {
                try await house.wait(
                    untilThereAre: "SELECT FROM renewald.refund_requests WHERE state = 'answered'")
            }
        }
        for worker in workers { await worker.ledger.close() }
        #expect(told.preferences == [.decline])
        #expect(try await row(house) == "answered decline")
    }
}
