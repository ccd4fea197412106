import Foundation
import TestSupport
import Testing

/// A store that is down, slow or lies changes no access, and is asked again.
@Suite(.serialized)
struct FaultTests {
    private static let faults = [
        #"{"kind":"status","status":500}"#, #"{"kind":"html"}"#, #"{"kind":"cut"}"#,
        #"{"kind":"garbled"}"#, #"{"kind":"reset"}"#, #"{"kind":"truncated"}"#,
        #"{"kind":"unauthorized"}"#, #"{"kind":"throttle"}"#, #"{"kind":"other_purchase"}"#,
        #"{"store":"apple","kind":"wrong_signature"}"#,
        #"{"store":"apple","kind":"expired_certificate"}"#,
    ]

    @Test func aFaultChangesNoAccess() async throws {
        try await onStage { stage in
            var made: [String: Stage.Made] = [:]
            for store in ["apple", "google", "amazon"] {
                made[store] = try await stage.buy(store)[0]
                // Another purchase, whose answer can be mixed up with the first.
                _ = try await stage.buy(store)
                try await stage.submit(try #require(made[store]), store, for: store)
            }
            #expect(try await stage.renewald("once").exit == .code(0))
            let before = try await entitled(stage)
            #expect(before == "amazon,apple,google")
            for purchase in made.values { try await stage.act(purchase, "refund") }
            for fault in Self.faults {
                try await stage.fault(fault)
                for store in made.keys.sorted() {
                    if fault.contains("apple"), store != "apple" { continue }
                    let check = try await stage.renewald("check", store)
                    #expect(check.exit == .code(75), "\(store) \(fault) \(check.standardOutput)")
                    #expect(check.standardOutput.contains("problem"), "\(store) \(fault)")
                }
                #expect(try await entitled(stage) == before, "\(fault)")
                try await stage.clearFaults()
            }
            let attempts = try await stage.value(
                "SELECT min(attempts) FROM renewald.schedule")
            #expect((Int(attempts) ?? 0) >= 5)
            for store in made.keys {
                #expect(try await stage.renewald("check", store).exit == .code(0))
                try await stage.expect(
                    ["grant monthly purchased", "revoke monthly refunded"], of: store)
            }
        }
    }

    /// An answer that is none is the trouble of one purchase: the pass goes on with the others.
    @Test(arguments: ["html", "truncated", "empty", "cut"])
    func oneAnswerThatIsNoneHoldsUpNobodyElse(kind: String) async throws {
        try await onStage { stage in
            let stores = ["apple", "google", "amazon"]
            for store in stores {
                let made = try await stage.buy(store, count: 10)
                try await stage.submit(made, store) { "\(store) \($0)" }
                try await stage.fault(#"{"store":"\#(store)","kind":"\#(kind)","count":1}"#)
            }
            // What failed is tried again before the pass ends, or by the next one.
            _ = try await stage.renewald("once", "--limit", "30")
            #expect(try await stage.events() >= 27)
            try await stage.script("UPDATE renewald.schedule SET due_at = now()")
            #expect(try await stage.renewald("once").exit == .code(0))
            #expect(try await stage.events() == 30)
        }
    }

    @Test func anOutageCostsAFewCallsAndHoldsUpNobodyElse() async throws {
        try await onStage { stage in
            let many = try await stage.buy("google", count: 2000)
            try await stage.submit(many, "google") { "g-\($0)" }
            try await stage.fault(#"{"store":"google","kind":"status","status":503}"#)
            let daemon = try stage.daemon()
            _ = try await daemon.line { $0.contains("single probes until it recovers") }
            let apple = try await stage.buy("apple")[0]
            try await stage.submit(apple, "apple", for: "ann")
            try await stage.expect(["grant monthly purchased"], of: "ann")
            #expect(try await stage.calls("google") < 200)
            try await stage.clearFaults()
            try await stage.wait(within: .seconds(90)) {
                try await stage.value(
                    "SELECT count(*) FROM renewald.events WHERE kind = 'grant'") == "2001"
            }
            #expect(
                try await stage.value("SELECT count(DISTINCT key) FROM renewald.events") == "2001")
        }
    }

    @Test func aHangingStoreIsGivenUpAndAskedAgain() async throws {
        try await onStage { stage in
            let made = try await stage.buy("amazon")[0]
            try await stage.submit(made, "amazon", for: "amy")
            try await stage.fault(#"{"store":"amazon","kind":"hang","count":1}"#)
            _ = try stage.daemon()
            try await stage.expect(
                ["grant monthly purchased"], of: "amy", within: .seconds(60))
        }
    }

    /// Without an access token nobody can be asked: the daemon tries again, without a restart.
    @Test func aClientThatCannotBeSetUpIsSetUpLater() async throws {
        try await onStage { stage in
            try await stage.fault(#"{"kind":"token_down"}"#)
            try await stage.submit(try await stage.buy("google")[0], "google", for: "gus")
            _ = try stage.daemon()
            try await stage.wait {
                try await stage.value(
                    "SELECT count(*) FROM renewald.purchases WHERE problem IS NOT NULL") == "1"
            }
            try await stage.clearFaults()
            try await stage.expect(
                ["grant monthly purchased"], of: "gus", within: .seconds(60))
        }
    }

    @Test func aDatabaseThatGoesAndComesBackLosesNothing() async throws {
        try await onStage(from: "2026-01-01T00:00:00Z") { stage in
            let daemon = try stage.daemon()
            let first = try await stage.buy("google")[0]
            try await stage.submit(first, "google", for: "one")
            try await stage.expect(["grant monthly purchased"], of: "one")
            for round in 1...3 {
                let made = try await stage.buy("google", count: 300)
                try await stage.submit(made, "google") { "r\(round)-\($0)" }
                try await stage.restartDatabase()
                try await stage.wait(within: .seconds(90)) {
                    try await stage.value("SELECT count(*) FROM renewald.events")
                        == "\(1 + 300 * round)"
                }
            }
            #expect(
                try await stage.value("SELECT count(DISTINCT key) FROM renewald.events") == "901")
            daemon.send(SIGTERM)
            #expect(try await daemon.exit(within: .seconds(60)) == .code(0))
        }
    }

    private func entitled(_ stage: Stage) async throws -> String {
        try await stage.value(
            "SELECT string_agg(user_id, ',' ORDER BY user_id) FROM renewald.entitlements "
                + "WHERE active")
    }
}
