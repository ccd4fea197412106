import Foundation
import TestSupport
import Testing

/// The database's clock is an hour off the stores': nothing ends early, nothing is missed, nothing
/// stands still, and whoever looks is told.
@Suite(.serialized)
struct ClockTests {
    /// How far the database is ahead.
    static let hours = [1, -1]

    @Test(arguments: hours, ["google", "apple"])
    func whatIsCancelledEndsByBothClocks(ahead: Int, store: String) async throws {
        try await onStage(from: "2026-01-01T00:00:00Z", databaseAhead: .seconds(ahead * 3600)) {
            stage in
            let made = try await stage.buy(store)[0]
            try await stage.act(made, "cancel")
            try await stage.submit(made, store, for: "ida")
            try await expectBothClocks(stage, "2026-02-01", ahead, "revoke monthly cancelled")
        }
    }

    /// verifyReceipt tells dates alone.
    @Test(arguments: hours, ["app", "transaction"])
    func aReceiptEndsByBothClocks(ahead: Int, style: String) async throws {
        try await onStage(from: "2026-01-01T00:00:00Z", databaseAhead: .seconds(ahead * 3600)) {
            stage in
            try stage.editConfiguration { text in
                text.replacing(/(issuer_id|key_id|private_key) = .*\n/, with: "")
            }
            let made = try await stage.buy("apple")[0]
            try await stage.act(made, "cancel")
            let receipt = try await stage.receipt(of: made, style: style)
            try await stage.submit(made, token: receipt, "apple", for: "ida")
            try await expectBothClocks(stage, "2026-02-01", ahead, "revoke monthly cancelled")
        }
    }

    /// Google's version 1 tells dates where the others tell states.
    @Test(arguments: hours, ["google", "google v1", "amazon", "apple"])
    func graceIsHoldByBothClocks(ahead: Int, api: String) async throws {
        let store = api == "google v1" ? "google" : api
        try await onStage(from: "2026-01-01T00:00:00Z", databaseAhead: .seconds(ahead * 3600)) {
            stage in
            if api != store {
                try stage.editConfiguration {
                    $0.replacing("[store.google]\n", with: "[store.google]\napi = \"v1\"\n")
                }
            }
            let terms = #""grace":"P6D","hold":"P30D""#
            let made = try await stage.buy(store, terms: terms)[0]
            try await stage.submit(made, store, for: "ida")
            try await once(stage)
            try await stage.act(made, "fail_payment")
            try await stage.set(to: "2026-02-02T12:00:00Z")
            try await once(stage)
            let problem = "SELECT problem LIKE 'clock: %' FROM renewald.purchases"
            #expect(try await stage.value(problem) == "true")
            #expect(try await stage.value("SELECT state FROM renewald.purchases") == "grace")
            // Google lets a day pass before its grace.
            let day = store == "google" ? "2026-02-08" : "2026-02-07"
            try await expectBothClocks(stage, day, ahead, "revoke monthly payment_failed")
        }
    }

    /// A week before the next regular look, and within the hour by which the clocks differ.
    @Test(arguments: hours, ["apple", "google"])
    func aRefundWithinTheMarginIsNotMissed(ahead: Int, store: String) async throws {
        try await onStage(from: "2026-01-01T00:00:00Z", databaseAhead: .seconds(ahead * 3600)) {
            stage in
            let made = try await stage.buy(store)[0]
            try await stage.submit(made, store, for: "ida")
            try await once(stage)
            try await stage.pass("P1D")
            // The news are read up to here.
            try await once(stage)
            try await stage.pass("PT10M")
            try await stage.act(made, "refund")
            try await stage.pass("PT10M")
            try await once(stage)
            #expect(
                try await stage.story(of: "ida") == [
                    "grant monthly purchased", "revoke monthly refunded",
                ])
        }
    }

    @Test func whoeverLooksIsTold() async throws {
        try await onStage(from: "2026-01-01T00:00:00Z", databaseAhead: .seconds(3600)) { stage in
            for store in ["apple", "google", "amazon"] {
                let made = try await stage.buy(store)[0]
                try await stage.submit(made, store, for: store)
            }
            try await once(stage)
            let status = try await stage.renewald("status")
            let doctor = try await stage.renewald("doctor")
            Self.expectToldOfClocks(status: status, doctor: doctor)
        }
    }

    // MARK: Helpers

    private static func expectToldOfClocks(status: Stage.Ended, doctor: Stage.Ended) {
        let lines = status.standardOutput.split(separator: "\n")
        #expect(lines.count { $0.hasSuffix("problem       clock: 1 purchase") } == 3)
        let app = Stage.app
        let told = "the problem `clock`: amazon \(app): 1, apple \(app): 1, google \(app): 1"
        let notes = doctor.standardOutput.split(separator: "\n").filter { $0.hasPrefix("note ") }
        #expect(notes.contains { $0.contains(told) }, "\(doctor.standardOutput)")
    }

    /// Access that ends soon after a midnight, by the store's clock, ends when that is so by both.
    private func expectBothClocks(
        _ stage: Stage, _ day: String, _ ahead: Int, _ end: String
    ) async throws {
        try await once(stage)
        // By a database that is ahead the end was half an hour ago.
        let before = ["2026-02-01": "2026-01-31", "2026-02-07": "2026-02-06"][day] ?? "2026-02-07"
        try await stage.set(to: "\(before)T23:30:00Z")
        for _ in 1...2 {
            // It asks what is not due as well.
            let ended = try await stage.renewald("check", "ida")
            #expect(ended.exit == .code(0), "\(ended.standardOutput) \(ended.standardError)")
            #expect(try await stage.value("renewald.has('ida', 'monthly')") == "true")
            #expect(try await stage.story(of: "ida").contains { $0.hasPrefix("revoke") } == false)
        }
        try await stage.set(to: ahead > 0 ? "\(day)T00:05:00Z" : "\(day)T01:05:00Z")
        try await once(stage)
        let explained = try await stage.renewald("explain", "ida").standardOutput
        #expect(try await stage.story(of: "ida").last == end, "\(explained)")
        #expect(try await stage.value("renewald.has('ida', 'monthly')") == "false")
    }

    private func once(_ stage: Stage) async throws {
        let ended = try await stage.renewald("once")
        let explained = try await stage.renewald("explain", "ida").standardOutput
        #expect(ended.exit == .code(0), "\(ended.standardError) \(explained)")
    }
}
