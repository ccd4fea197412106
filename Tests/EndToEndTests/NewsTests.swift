import Foundation
import TestSupport
import Testing

/// What is found before it is due: by the stores' own news, and when a second user hands in what
/// another has.
@Suite(.serialized)
struct NewsTests {
    /// Days before the next regular look.
    @Test(arguments: ["apple", "google", "amazon"])
    func aRefundIsFoundByTheStoresNews(store: String) async throws {
        try await onStage(from: "2026-01-01T00:00:00Z") { stage in
            if store == "amazon" { try stage.readQueue() }
            let made = try await stage.buy(store)[0]
            try await stage.submit(made, store, for: "nia")
            try await Self.once(stage)
            try await stage.pass("P1D")
            try await stage.act(made, "refund")
            try await stage.pass("PT10M")
            try await Self.once(stage)
            #expect(
                try await stage.story(of: "nia") == [
                    "grant monthly purchased", "revoke monthly refunded",
                ])
            let before = try await stage.calls(store)
            // The same news again, in the overlap of two readings, costs no question.
            try await Self.once(stage)
            let questions = try await stage.calls(store) - before
            #expect(questions <= 2, "reading the news again is all")
        }
    }

    /// Likewise, and access goes on.
    @Test(arguments: ["apple", "google", "amazon"])
    func aCancellationIsFoundByTheStoresNews(store: String) async throws {
        try await onStage(from: "2026-01-01T00:00:00Z") { stage in
            if store == "amazon" { try stage.readQueue() }
            if store == "google" { try stage.subscribe() }
            let made = try await stage.buy(store)[0]
            try await stage.submit(made, store, for: "nia")
            try await Self.once(stage)
            try await stage.pass("P1D")
            try await Self.once(stage)
            try await stage.act(made, "cancel")
            try await stage.pass("PT10M")
            try await Self.once(stage)
            #expect(
                try await stage.story(of: "nia") == [
                    "grant monthly purchased", "notice auto_renew_off",
                ])
            #expect(try await stage.value("SELECT renewald.has('nia', 'monthly')") == "true")
        }
    }

    /// No answer about the subscription tells it; the news and the orders do.
    @Test(arguments: ["apple", "google"])
    func aRefundOfAPastPeriodEndsNothing(store: String) async throws {
        try await onStage(from: "2026-01-01T00:00:00Z") { stage in
            let made = try await stage.buy(store)[0]
            try await stage.submit(made, store, for: "pat")
            let daemon = try stage.daemon()
            try await stage.expect(["grant monthly purchased"], of: "pat")
            try await stage.pass("P32D")
            try await stage.expect(["grant monthly purchased", "notice renewed"], of: "pat")
            daemon.send(SIGTERM)
            #expect(try await daemon.exit() == .code(0))
            try await stage.act(made, "refund_past")
            try await stage.pass("PT10M")
            try await Self.once(stage)
            #expect(
                try await stage.story(of: "pat") == [
                    "grant monthly purchased", "notice renewed", "notice refund_of_past_period",
                ])
            #expect(try await stage.value("SELECT renewald.has('pat', 'monthly')") == "true")

            // Another one is told as well, by its own order.
            try await stage.pass("P31D")
            try await Self.once(stage)
            try await stage.act(made, "refund_past")
            try await stage.pass("PT10M")
            try await Self.once(stage)
            #expect(
                try await stage.story(of: "pat").suffix(2) == [
                    "notice renewed", "notice refund_of_past_period",
                ])
            #expect(
                try await stage.value(
                    "SELECT count(DISTINCT detail ->> 'refunded_order') FROM renewald.events")
                    == "2")
        }
    }

    /// Its own receipt goes on as before; that of its base tells. The user's other add-on, whose
    /// base runs, goes on.
    @Test(arguments: [
        ("P1D", "refund", "P3D", "refunded"), ("P40D", "refund", "P3D", "refunded"),
        ("P1D", "cancel", "P32D", "cancelled"),
    ])
    func anAmazonAddOnEndsWithItsBase(
        after: String, deed: String, wait: String, reason: String
    ) async throws {
        try await onStage(from: "2026-01-01T00:00:00Z") { stage in
            let base = try await stage.buy("amazon")[0]
            let other = try await stage.buy("amazon", product: "radio")[0]
            let maps = try await stage.buy(
                "amazon", product: "maps", terms: "\"bases\":[\(base.id)]")[0]
            let jazz = try await stage.buy(
                "amazon", product: "jazz", terms: "\"bases\":[\(other.id)]")[0]
            for made in [base, other, maps, jazz] {
                try await stage.submit(made, "amazon", for: "ben")
            }
            try await Self.once(stage)
            #expect(
                try await stage.entitlements(of: "ben") == ["jazz", "maps", "monthly", "radio"])
            try await stage.pass(after)
            try await Self.once(stage)
            try await stage.act(base, deed)
            try await stage.pass(wait)
            try await Self.once(stage)
            #expect(try await stage.entitlements(of: "ben") == ["jazz", "radio"])
            let ends = try await stage.story(of: "ben").filter { $0.hasPrefix("revoke") }
            #expect(Set(ends) == ["revoke maps \(reason)", "revoke monthly \(reason)"])
            #expect(ends.count == 2)
        }
    }

    /// As long as its base, whose second period it is.
    @Test func anAmazonAddOnRunsOutWithItsRefundedBase() async throws {
        try await onStage(from: "2026-01-01T00:00:00Z") { stage in
            try stage.configure("[policy]\nrefund = \"period_end\"")
            let base = try await stage.buy("amazon")[0]
            let maps = try await stage.buy(
                "amazon", product: "maps", terms: "\"bases\":[\(base.id)]")[0]
            for made in [base, maps] { try await stage.submit(made, "amazon", for: "ben") }
            try await Self.once(stage)
            try await stage.pass("P40D")
            try await Self.once(stage)
            try await stage.act(base, "refund")
            try await stage.pass("P3D")
            try await Self.once(stage)
            #expect(try await stage.entitlements(of: "ben") == ["maps", "monthly"])
            try await stage.pass("P30D")
            try await Self.once(stage)
            #expect(try await stage.entitlements(of: "ben") == [])
            let ends = try await stage.story(of: "ben").filter { $0.hasPrefix("revoke") }
            #expect(Set(ends) == ["revoke maps refunded", "revoke monthly refunded"])
        }
    }

    /// Without a restart, and without a stop of the engine.
    @Test func aReloadReadsTheSourcesThatItBrings() async throws {
        try await onStage { stage in
            let sources = "SELECT count(*) FROM renewald.hint_source"
            let daemon = try stage.daemon()
            try await stage.wait { try await stage.value(sources) == "2" }
            try stage.editConfiguration { text in
                text.replacingOccurrences(
                    of: "/google.json\"\n",
                    with: "/google.json\"\npubsub_subscription = \"projects/p/subscriptions/s\"\n")
            }
            daemon.send(SIGHUP)
            _ = try await daemon.line { $0.contains("sources of news changed: + google") }
            try await stage.wait { try await stage.value(sources) == "3" }
            daemon.send(SIGTERM)
            #expect(try await daemon.exit() == .code(0))
        }
    }

    @Test(arguments: ["move", "allow", "keep"])
    func aTokenOfTwoUsersGoesByThePolicy(policy: String) async throws {
        try await onStage { stage in
            try stage.configure("[policy]\nshared = \"\(policy)\"")
            let made = try await stage.buy("google")[0]
            let first = try await stage.submit(made, "google", for: "una")
            try await Self.once(stage)
            let second = try await stage.submit(made, "google", for: "ben")
            #expect(first == second)
            try await Self.once(stage)
            try await Self.once(stage)
            let told = [try await stage.story(of: "una"), try await stage.story(of: "ben")]
            switch policy {
            case "move":
                #expect(
                    told == [
                        ["grant monthly purchased", "revoke monthly transferred"],
                        ["grant monthly transferred"],
                    ])
                let moments = try await stage.value(
                    "SELECT count(DISTINCT created_at) FROM renewald.events "
                        + "WHERE reason = 'transferred'")
                #expect(moments == "1")
            case "allow":
                #expect(told == [["grant monthly purchased"], ["grant monthly purchased"]])
            default:
                #expect(told == [["grant monthly purchased", "notice shared_receipt"], []])
            }
        }
    }

    private static func once(_ stage: Stage) async throws {
        let ended = try await stage.renewald("once")
        #expect(ended.exit == .code(0), "\(ended.standardError)")
    }
}
