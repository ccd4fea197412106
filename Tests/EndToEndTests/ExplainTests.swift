import Foundation
import TestSupport
import Testing

/// `renewald explain`, after real lives with the real daemon.
@Suite(.serialized)
struct ExplainTests {
    @Test func tellsTheChainOfEvidence() async throws {
        try await onStage(from: "2026-09-21T10:31:00Z") { stage in
            try await liveToTheEnd(stage)
            let (before, calls) = (try await stage.fingerprint(), try await stage.calls("google"))
            let told = try await stage.renewald("explain", "ada")
            #expect(told.exit == .code(0))
            expectInOrder(
                told.standardOutput,
                [
                    "ada: 1 purchase, as of ", "does not hold monthly, since ",
                    "cancelled: it ran out after the user had turned renewal off",
                    "Google Play said then: EXPIRED", "purchase 1: monthly, google",
                    "new -> active, access none -> granted",
                    "asked      purchases.subscriptionsv2.get: 200, ", " bytes, sha256 ",
                    "heard      ACTIVE", "rule       in force and paid",
                    "event      grant monthly purchased", "event      notice renewed",
                    "heard      CANCELED", "event      notice auto_renew_off",
                    "active -> expired, access granted -> none", "heard      EXPIRED",
                    "rule       the store says that it is over",
                    "event      revoke monthly cancelled",
                    "  next       Google Play is asked around ",
                ])
            let json = try await stage.renewald("explain", "ada", "--json")
            let steps = try steps(in: json.standardOutput)
            #expect(steps.allSatisfy { $0["check"] is [String: Any] })
            let events = steps.flatMap { $0["events"] as? [[String: Any]] ?? [] }
            #expect(
                events.compactMap { $0["reason"] as? String }
                    == ["purchased", "renewed", "auto_renew_off", "cancelled"])
            #expect(try await stage.fingerprint() == before)
            #expect(try await stage.calls("google") == calls)
        }
    }

    @Test func writesAPage() async throws {
        try await onStage { stage in
            let made = try await stage.buy("google")[0]
            try await stage.submit(made, "google", for: "ada <b>")
            #expect(try await stage.renewald("check", "ada <b>").exit == .code(0))
            let file = "\(stage.folder)/ada.html"
            let written = try await stage.renewald("explain", "ada <b>", "--html", file)
            #expect(written.exit == .code(0) && written.standardOutput.isEmpty)
            let page = try String(contentsOfFile: file, encoding: .utf8)
            #expect(page.hasPrefix("<!doctype html>") && page.hasSuffix("</html>\n"))
            #expect(
                page.contains("<h1>ada &lt;b&gt;</h1>") && page.contains("class=\"check verdict"))
            #expect(!page.contains(made.token))
            let nowhere = try await stage.renewald(
                "explain", "ada <b>", "--html", "\(stage.folder)/no/such.html")
            #expect(nowhere.exit == .code(73))
            #expect(nowhere.standardError.contains("its folder does not exist"))
        }
    }

    @Test func findsAUserByEveryIdOfAnOrder() async throws {
        try await onStage(from: "2026-01-01T00:00:00Z") { stage in
            let daemon = try stage.daemon()
            var receipts: [String] = []
            for store in ["apple", "google", "amazon"] {
                let made = try await stage.buy(store)[0]
                try await stage.submit(made, store, for: store)
                receipts.append(made.token)
                try await stage.expect(["grant monthly purchased"], of: store)
            }
            try await stage.pass("P31D")
            for store in ["apple", "google", "amazon"] {
                try await stage.expect(["grant monthly purchased", "notice renewed"], of: store)
            }
            daemon.send(SIGTERM)
            #expect(try await daemon.exit() == .code(0))
            let base = try await stage.value(
                "SELECT original_id FROM renewald.purchases WHERE store = 'google'")
            let line = try await stage.value(
                "SELECT min(period) FROM renewald.evidence WHERE user_id = 'apple'")
            let orders = try await stage.value(
                "SELECT string_agg(DISTINCT order_id, ' ') FROM renewald.evidence "
                    + "WHERE user_id = 'apple'")
            #expect(orders.split(separator: " ").count == 2)
            for (id, user) in [
                (base, "google"), ("\(base)..0", "google"), ("\(base)..7", "google"),
                (line, "apple"), (receipts[0], "apple"), (receipts[2], "amazon"),
            ] + orders.split(separator: " ").map({ (String($0), "apple") }) {
                let told = try await stage.renewald("explain", id, "--offline")
                #expect(told.standardOutput.hasPrefix("\(user): 1 purchase"), "\(user)")
            }
        }
    }

    @Test func keepsTheStoryOfWhatWentToAnotherUser() async throws {
        try await onStage { stage in
            try stage.configure("[policy]\nshared = \"move\"")
            let made = try await stage.buy("google")[0]
            for user in ["ann", "eve"] {
                try await stage.submit(made, "google", for: user)
                #expect(try await stage.renewald("check", "ann").exit == .code(0))
            }
            let lost = try await stage.renewald("explain", "ann")
            expectInOrder(
                lost.standardOutput,
                [
                    "ann: 0 purchases", "does not hold monthly, since ",
                    "transferred: it went to another user",
                    "purchase 1: monthly, google com.example.reader",
                    "  now        it belongs to another user now", "new -> active",
                    "event      grant monthly purchased", "user       eve, who had it then",
                    "event      revoke monthly transferred",
                ])
            let gained = try await stage.renewald("explain", "eve")
            expectInOrder(
                gained.standardOutput,
                [
                    "eve: 1 purchase", "holds monthly until ", "user       ann, who had it then",
                    "event      grant monthly transferred", "  next       ",
                ])
            let page = "\(stage.folder)/ann.html"
            #expect(try await stage.renewald("explain", "ann", "--html", page).exit == .code(0))
            #expect(
                try String(contentsOfFile: page, encoding: .utf8).contains(
                    "it belongs to another user now"))
        }
    }

    @Test func asksTheStoreForAnOrderThatItDoesNotKnow() async throws {
        try await onStage { stage in
            let made = try await stage.buy("apple")[0]
            try await stage.submit(made, "apple", for: "ann")
            #expect(try await stage.renewald("check", "ann").exit == .code(0))
            let order = try await order(of: made, stage)
            let calls = try await stage.calls("apple")
            let offline = try await stage.renewald("explain", order, "--offline")
            #expect(offline.standardOutput.contains("(--offline)\n\(order): no purchases\n"))
            #expect(try await stage.calls("apple") == calls)
            let told = try await stage.renewald("explain", order)
            #expect(told.standardOutput.hasPrefix("The App Store has named the purchase"))
            #expect(told.standardOutput.contains("ann: 1 purchase"))
            #expect(try await stage.calls("apple") == calls + 1)
            let foreign = try await stage.renewald("explain", "GPA.1111-2222-3333-44444..1")
            #expect(foreign.exit == .code(0))
            #expect(foreign.standardOutput.hasPrefix("Google Play does not know this order\n"))
        }
    }

    /// Support reads the database; the keys of the stores are none of its business.
    @Test func worksWhereCredentialsCannotBeRead() async throws {
        try await onStage { stage in
            try await stage.submit(try await stage.buy("google")[0], "google", for: "ada")
            #expect(try await stage.renewald("check", "ada").exit == .code(0))
            try FileManager.default.removeItem(atPath: "\(stage.folder)/stores/google.json")
            let told = try await stage.renewald("explain", "ada")
            #expect(told.exit == .code(0))
            #expect(told.standardOutput.contains("holds monthly until "))
            let order = try await stage.renewald("explain", "GPA.1111-2222-3333-44444")
            #expect(order.exit == .code(0))
            #expect(order.standardOutput.contains("Google Play could not be asked for this order"))
            let required = try await stage.renewald(
                "explain", "GPA.1111-2222-3333-44444", "--require")
            #expect(required.exit == .code(75))
        }
    }

    @Test func anUnknownUserIsNoFault() async throws {
        try await onStage { stage in
            let quiet = try await stage.renewald("explain", "nobody")
            #expect(quiet.exit == .code(0))
            #expect(quiet.standardOutput == "nobody: no purchases\n")
            #expect(try await stage.renewald("explain", "nobody", "--require").exit == .code(66))
            #expect(try await stage.renewald("explain", "").exit == .code(64))
        }
    }

    // MARK: Helpers

    /// Bought, renewed, cancelled, run out.
    private func liveToTheEnd(_ stage: Stage) async throws {
        let daemon = try stage.daemon()
        let made = try await stage.buy("google")[0]
        try await stage.submit(made, "google", for: "ada")
        var story = ["grant monthly purchased"]
        try await stage.expect(story, of: "ada")
        try await stage.pass("P31D")
        story.append("notice renewed")
        try await stage.expect(story, of: "ada")
        try await stage.act(made, "cancel")
        try await stage.pass("P8D")
        story.append("notice auto_renew_off")
        try await stage.expect(story, of: "ada")
        try await stage.pass("P31D")
        story.append("revoke monthly cancelled")
        try await stage.expect(story, of: "ada")
        daemon.send(SIGTERM)
        #expect(try await daemon.exit() == .code(0))
    }

    private func steps(in json: String) throws -> [[String: Any]] {
        let object = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any]
        let user = try #require((object?["users"] as? [[String: Any]])?.first)
        let purchase = try #require((user["purchases"] as? [[String: Any]])?.first)
        return try #require(purchase["steps"] as? [[String: Any]])
    }

    /// As the customer's mail names it.
    private func order(of made: Stage.Made, _ stage: Stage) async throws -> String {
        let data = try await stage.control("purchases/\(made.id)", nil)
        let text = String(decoding: data, as: UTF8.self)
        let found = try #require(text.firstMatch(of: /"order_id":"(M[A-Z0-9]+)"/))
        return String(found.1)
    }
}

/// The pieces, each behind the one before.
func expectInOrder(_ text: String, _ pieces: [String]) {
    var rest = text[...]
    for piece in pieces {
        guard let found = rest.range(of: piece) else {
            Issue.record("no \(piece) where it must be in:\n\(text)")
            return
        }
        rest = rest[found.upperBound...]
    }
}
