import Postgres
import Renewal
import TestSupport
import Testing

@testable import Ledger

/// Who reads events from a cursor on never misses one.
@Suite(.serialized, .timeLimit(.minutes(3))) struct GapTests {
    @Test func aTransactionThatCommitsLateIsNotSkipped() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        let claims = try await stage.claims(of: ["ann", "bob"], lease)
        let outcomes = claims.map { outcome($0, inForce($0)) }
        let late = try await stage.ledger.compose([outcomes[0]], under: lease, at: claims.latest)
        let other = stage.furtherLedger()
        let slow = stage.session("slow")
        @Sendable func read() async throws -> [Int64] {
            try await stage.ledger.events(after: 0, limit: 100).map(\.id)
        }

        let waiting = try await slow.transaction { connection in
            for statement in late.statements { try await connection.query(statement) }
            #expect(try await read() == [])
            // Bob's has no lease of its own to wait for, so only the order of events holds it.
            let waiting = Task {
                try await other.commit([outcomes[1]], under: nil, at: claims.latest)
            }
            try await stage.wait(
                until: "application_name = 'ledger' AND wait_event_type = 'Lock'")
            #expect(try await read() == [])
            return waiting
        }
        #expect(try await waiting.value.committed.count == 1)
        let events = try await stage.ledger.events(after: 0, limit: 100)
        #expect(events.map(\.id) == [1, 2])
        #expect(events.map(\.userID) == ["ann", "bob"])
        #expect(try await stage.broken() == [])
    }

    /// The number comes again, for another event: whoever has passed it would never see that one.
    @Test func aCursorBeyondTheNewestEventIsAnError() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        func tell(_ user: String) async throws {
            let claims = try await stage.claims(of: [user], lease)
            _ = try await stage.ledger.commit(
                claims.map { outcome($0, inForce($0)) }, under: lease, at: claims.latest)
        }
        #expect(try await stage.ledger.events(after: 0, limit: 10).isEmpty)
        try await tell("ann")
        #expect(try await stage.ledger.events(after: 1, limit: 10).isEmpty)
        await #expect {
            try await stage.ledger.events(after: 2, limit: 10)
        } throws: { error in
            guard let error = error as? LedgerError, case .eventsLost(let message) = error
            else { return false }
            return message.contains("cursor is 2") && message.contains("newest event is 1")
                && error.sentence.contains("go back to the last event from before")
        }
        try await stage.beside.script(
            """
            DO $$
            DECLARE
                hint text;
            BEGIN
                PERFORM renewald.events_after(2);
                RAISE EXCEPTION 'a cursor beyond the newest event is taken';
            EXCEPTION WHEN SQLSTATE 'RN002' THEN
                GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
                IF hint NOT LIKE '%greatest(last_id, 2). Where%goes back to the last event%' THEN
                    RAISE EXCEPTION 'the hint is: %', hint;
                END IF;
            END $$
            """)
        // As docs/upgrading.md says.
        try await stage.beside.script(
            "UPDATE renewald.event_counter SET last_id = greatest(last_id, 2)")
        #expect(try await stage.ledger.events(after: 2, limit: 10).isEmpty)
        try await tell("bob")
        #expect(try await stage.ledger.events(after: 2, limit: 10).map(\.userID) == ["bob"])
    }

    @Test func aReaderAmongFourWritersSeesEveryEventOnceInOrder() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        let users = (0..<120).map { "user \($0)" }
        let claims = try await stage.claims(of: users, lease)
        let isDone = Flag()
        let seen = try await withThrowingTaskGroup(of: [Int64].self) { group in
            group.addTask {
                let reader = stage.furtherLedger()
                var seen: [Int64] = []
                var isLast = false
                while !isLast {
                    try Task.checkCancellation()
                    isLast = isDone.isSet
                    seen += try await reader.events(after: seen.last ?? 0, limit: 7).map(\.id)
                    if seen.count < users.count { isLast = false }
                }
                return seen
            }
            try await withThrowingTaskGroup(of: Void.self) { writers in
                for number in 0..<4 {
                    writers.addTask {
                        let ledger = stage.furtherLedger()
                        for index in stride(from: number, to: claims.count, by: 4) {
                            let claim = claims[index]
                            _ = try await ledger.commit(
                                [outcome(claim, inForce(claim))], under: nil, at: claim.claimedAt)
                        }
                        await ledger.close()
                    }
                }
                try await writers.waitForAll()
            }
            isDone.set()
            return try await group.next() ?? []
        }
        #expect(seen == Array(1...Int64(users.count)))
        #expect(try await stage.broken() == [])
    }
}
