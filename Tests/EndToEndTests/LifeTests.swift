import TestSupport
import Testing

/// One subscription of each store lives through everything, told by the real daemon.
@Suite(.serialized)
struct LifeTests {
    /// A day or two past the next sweep of every store.
    private static let untilSwept = "P8D"

    @Test func tellsAnAppleSubscription() async throws {
        try await onStage(from: "2026-01-01T00:00:00Z") { stage in
            let daemon = try stage.daemon()
            let made = try await stage.buy("apple", terms: #""grace":"P6D""#)[0]
            try await stage.submit(made, "apple", for: "ann")
            var story = ["grant monthly purchased"]
            try await stage.expect(story, of: "ann")
            try await stage.pass("P31D")
            story.append("notice renewed")
            try await stage.expect(story, of: "ann")

            try await stage.act(made, "cancel")
            try await stage.pass(Self.untilSwept)
            story.append("notice auto_renew_off")
            try await stage.expect(story, of: "ann")
            try await stage.act(made, "uncancel")
            try await stage.pass(Self.untilSwept)
            story.append("notice auto_renew_on")
            try await stage.expect(story, of: "ann")

            try await stage.act(made, "fail_payment")
            try await stage.pass("P13D")
            story.append("notice payment_pending")
            try await stage.expect(story, of: "ann")
            try await expectHolds(stage, "ann", inGrace: true)
            try await stage.act(made, "fix_payment")
            try await stage.pass("P1D")
            story.append("notice payment_recovered")
            try await stage.expect(story, of: "ann")

            try await stage.act(made, "fail_payment")
            try await stage.pass("P31D")
            story.append("notice payment_pending")
            try await stage.expect(story, of: "ann")
            try await stage.pass("P7D")
            story.append("revoke monthly payment_failed")
            try await stage.expect(story, of: "ann")
            try await expectLost(stage, "ann")
            try await stage.act(made, "fix_payment")
            try await stage.pass("P2D")
            story.append("grant monthly recovered")
            try await stage.expect(story, of: "ann")

            try await stage.act(made, "refund")
            try await stage.pass(Self.untilSwept)
            story.append("revoke monthly refunded")
            try await stage.expect(story, of: "ann")
            try await expectLost(stage, "ann")
            _ = try await daemon.line { $0.contains("revoke monthly from ann: refunded") }
        }
    }

    @Test func tellsAGoogleSubscription() async throws {
        try await onStage(from: "2026-01-01T00:00:00Z") { stage in
            _ = try stage.daemon()
            let made = try await stage.buy("google", terms: #""grace":"P6D","hold":"P30D""#)[0]
            try await stage.submit(made, "google", for: "gus")
            var story = ["grant monthly purchased"]
            try await stage.expect(story, of: "gus")
            let sale = try await stage.value(
                "SELECT concat_ws(' ', detail->>'region', detail->>'price', detail->>'currency') "
                    + "FROM renewald.events")
            #expect(sale == "PT 6.99 EUR")

            // The payment of February fails: the expiry moves a day at a time, unpaid.
            try await stage.act(made, "fail_payment")
            try await stage.pass("P33D")
            story.append("notice payment_pending")
            try await stage.expect(story, of: "gus")
            try await expectHolds(stage, "gus", inGrace: true)
            let paid = try await stage.value("SELECT paid_through FROM renewald.purchases")
            for _ in 1...3 {
                try await expectCheck(stage) { try await stage.pass("P1D") }
            }
            try await stage.expect(story, of: "gus")
            let detail = try await stage.value(
                "SELECT detail->>'false_renewal' FROM renewald.events "
                    + "WHERE reason = 'payment_pending'")
            #expect(detail == "true")
            #expect(try await stage.value("SELECT paid_through FROM renewald.purchases") == paid)
            #expect(try await stage.value("SELECT state FROM renewald.purchases") == "grace")

            try await stage.act(made, "fix_payment")
            try await stage.pass("P1D")
            story.append("notice payment_recovered")
            try await stage.expect(story, of: "gus")

            // The payment of March fails for longer.
            try await stage.act(made, "fail_payment")
            try await stage.pass("P27D")
            story.append("notice payment_pending")
            try await stage.expect(story, of: "gus")
            try await stage.pass("P7D")
            story.append("revoke monthly payment_failed")
            try await stage.expect(story, of: "gus")
            try await expectLost(stage, "gus")
            try await stage.act(made, "fix_payment")
            try await stage.pass("P2D")
            story.append("grant monthly recovered")
            try await stage.expect(story, of: "gus")

            try await stage.act(made, "cancel")
            try await stage.pass(Self.untilSwept)
            story.append("notice auto_renew_off")
            try await stage.expect(story, of: "gus")
            try await stage.pass("P30D")
            story.append("revoke monthly cancelled")
            try await stage.expect(story, of: "gus")
            try await expectLost(stage, "gus")
        }
    }

    @Test func tellsAnAmazonSubscription() async throws {
        try await onStage(from: "2026-01-01T00:00:00Z") { stage in
            _ = try stage.daemon()
            let made = try await stage.buy("amazon", terms: #""grace":"P6D""#)[0]
            try await stage.submit(made, "amazon", for: "amy")
            var story = ["grant monthly purchased"]
            try await stage.expect(story, of: "amy")
            try await stage.pass("P32D")
            story.append("notice renewed")
            try await stage.expect(story, of: "amy")

            try await stage.act(made, "fail_payment")
            try await stage.pass("P29D")
            story.append("notice payment_pending")
            try await stage.expect(story, of: "amy")
            try await stage.act(made, "fix_payment")
            try await stage.pass("P1D")
            story.append("notice payment_recovered")
            try await stage.expect(story, of: "amy")

            try await stage.act(made, "cancel")
            try await stage.pass("P3D")
            story.append("notice auto_renew_off")
            try await stage.expect(story, of: "amy")
            try await expectHolds(stage, "amy", inGrace: false)
            try await stage.pass("P32D")
            story.append("revoke monthly cancelled")
            try await stage.expect(story, of: "amy")
            try await expectLost(stage, "amy")
        }
    }

    @Test func tellsARefundAPauseAndAnExpiry() async throws {
        try await onStage(from: "2026-01-01T00:00:00Z") { stage in
            _ = try stage.daemon()
            let paused = try await stage.buy("google", product: "paused")[0]
            let revoked = try await stage.buy("google", product: "revoked")[0]
            let refunded = try await stage.buy("amazon", product: "refunded")[0]
            let expired = try await stage.buy("apple", product: "expired")[0]
            try await stage.submit(paused, "google", for: "pat")
            try await stage.submit(revoked, "google", for: "rob")
            try await stage.submit(refunded, "amazon", for: "ria")
            try await stage.submit(expired, "apple", for: "eva")
            for (user, product) in [
                ("pat", "paused"), ("rob", "revoked"), ("ria", "refunded"), ("eva", "expired"),
            ] {
                try await stage.expect(["grant \(product) purchased"], of: user)
            }
            try await stage.act(paused, "pause", #"{"for":"P14D"}"#)
            try await stage.act(revoked, "revoke")
            try await stage.act(refunded, "refund")
            try await stage.act(expired, "expire")
            try await stage.pass(Self.untilSwept)
            try await stage.expect(
                ["grant revoked purchased", "revoke revoked refunded"], of: "rob")
            try await stage.expect(
                ["grant refunded purchased", "revoke refunded refunded"], of: "ria")
            try await stage.expect(
                ["grant expired purchased", "revoke expired expired"], of: "eva")
            try await stage.pass("P25D")
            try await stage.wait {
                try await stage.story(of: "pat").contains("revoke paused paused")
            }
            try await stage.pass("P15D")
            try await stage.wait {
                try await stage.story(of: "pat").contains("grant paused resumed")
            }
        }
    }

    private func expectHolds(_ stage: Stage, _ user: String, inGrace: Bool) async throws {
        #expect(
            try await stage.value("SELECT renewald.has('\(user)', 'monthly')") == "true")
        #expect(
            try await stage.value(
                "SELECT active AND in_grace = \(inGrace) FROM renewald.entitlements "
                    + "WHERE user_id = '\(user)'") == "true")
    }

    private func expectLost(_ stage: Stage, _ user: String) async throws {
        #expect(
            try await stage.value("SELECT renewald.has('\(user)', 'monthly')") == "false")
        #expect(
            try await stage.value(
                "SELECT active FROM renewald.entitlements WHERE user_id = '\(user)'") == "false")
    }

    /// Waits until the daemon has heard another verdict.
    private func expectCheck(_ stage: Stage, after move: () async throws -> Void) async throws {
        let before = try await stage.value("SELECT checked_at FROM renewald.purchases")
        try await move()
        try await stage.wait {
            try await stage.value("SELECT checked_at FROM renewald.purchases") != before
        }
    }
}
