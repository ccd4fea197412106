import Foundation
import TestSupport
import Testing

/// One purchase, several users, and what is handed in again: by the real programs.
@Suite(.serialized)
struct SharedTests {
    private static func once(_ stage: Stage) async throws {
        let ended = try await stage.renewald("once")
        #expect(ended.exit == .code(0), "\(ended.standardError)")
    }

    @Test func whoSubmitsWhatAnotherHasIsSeen() async throws {
        try await onStage { stage in
            try stage.configure()
            let made = try await stage.buy("google")[0]
            let id = try await stage.submit(made, "google", for: "una")
            try await Self.once(stage)
            try await stage.submit(made, "google", for: "ben")
            try await Self.once(stage)
            #expect(
                try await stage.value(
                    "SELECT detail ->> 'claimed_by' FROM renewald.events WHERE user_id = 'una' "
                        + "AND reason = 'shared_receipt'") == "ben")
            let told = try await stage.renewald("explain", "ben", "--require")
            #expect(told.exit == .code(0))
            expectInOrder(
                told.standardOutput,
                [
                    "ben: 0 purchases, as of ", "purchase \(id): monthly, google ",
                    "now        una has it", "next       it moves with its next check if ",
                ])
            let json = try await stage.renewald("explain", "ben", "--json")
            #expect(json.standardOutput.replacing(" ", with: "").contains(#""owner":"una""#))
            let page = "\(stage.folder)/ben.html"
            #expect(try await stage.renewald("explain", "ben", "--html", page).exit == .code(0))
            #expect(
                try String(contentsOfFile: page, encoding: .utf8)
                    .contains("una has it; "))
            // A check of ben asks about it, says whose it is, and gives him nothing.
            let calls = try await stage.calls("google")
            let checked = try await stage.renewald("check", "ben", "--require")
            #expect(checked.exit == .code(0))
            #expect(try await stage.calls("google") > calls)
            expectInOrder(
                checked.standardOutput,
                [
                    "ben: 1 purchase", "purchase \(id): monthly", "of       una has it",
                    "asked    purchases.subscriptionsv2.get: 200", "access   granted",
                ])
            let machine = try await stage.renewald("check", "ben", "--json")
            #expect(machine.standardOutput.replacing(" ", with: "").contains(#""owner":"una""#))
            #expect(try await stage.story(of: "ben") == [])
            #expect(try await stage.value("SELECT renewald.has('ben', 'monthly')") == "false")
        }
    }

    /// Each of them is asked about in the same pass, and in the same check.
    @Test func whatBothMayHaveBothHaveAtOnce() async throws {
        try await onStage { stage in
            try stage.configure("\n[policy]\nshared = \"allow\"\n")
            let made = try await stage.buy("google")[0]
            let id = try await stage.submit(made, "google", for: "una")
            try await stage.submit(made, "google", for: "ben")
            try await Self.once(stage)
            #expect(try await stage.story(of: "una") == ["grant monthly purchased"])
            #expect(try await stage.story(of: "ben") == ["grant monthly purchased"])
            try await stage.submit(made, "google", for: "cid")
            let checked = try await stage.renewald("check", "cid")
            expectInOrder(
                checked.standardOutput,
                [
                    "cid: 2 purchases", "purchase \(id): monthly",
                    "of       una, and cid gets one of their own", "events   none", "purchase ",
                    "event    grant monthly purchased",
                ])
            #expect(try await stage.story(of: "cid") == ["grant monthly purchased"])
        }
    }

    /// One pass asks about all that was moved in, also about what a second user gets of their own.
    @Test func oneImportAndOnePassAreEnoughForBoth() async throws {
        try await onStage { stage in
            try stage.configure("\n[policy]\nshared = \"allow\"\n")
            let token = try await stage.buy("google")[0].token
            let file = "\(stage.folder)/fleet.csv"
            let lines = ["una", "ben", "cid"].map {
                "\($0),google,com.example.reader,monthly,\(token)"
            }
            let text = (["user_id,store,app,product,token"] + lines).joined(separator: "\n")
            try Data(text.utf8).write(to: URL(fileURLWithPath: file))
            #expect(
                try await stage.renewald("import", file, "--baseline").exit == .code(0))
            try await Self.once(stage)
            #expect(
                try await stage.value(
                    """
                    SELECT string_agg(concat_ws(' ', user_id, access), ', ' ORDER BY user_id)
                    FROM renewald.purchases
                    """) == "ben granted, cid granted, una granted")
            #expect(
                try await stage.value("SELECT count(*) FROM renewald.events") == "0")
        }
    }

    /// Whoever handed it in last gets it, and who was first is not who has it.
    @Test func whoHasItAfterAMoveIsSaid() async throws {
        try await onStage { stage in
            try stage.configure("\n[policy]\nshared = \"move\"\n")
            let made = try await stage.buy("google")[0]
            try await stage.submit(made, "google", for: "una")
            try await Self.once(stage)
            try await stage.submit(made, "google", for: "ben")
            expectInOrder(
                try await stage.renewald("explain", "ben").standardOutput,
                ["now        una has it", "next       it moves with its next check if "])
            try await Self.once(stage)
            #expect(try await stage.story(of: "ben") == ["grant monthly transferred"])
            expectInOrder(
                try await stage.renewald("explain", "una").standardOutput,
                ["now        ben has it", "next       it moves if the app named the other user "])
        }
    }

    @Test func aChainOfTwoUsersHasOneHolder() async throws {
        try await onStage { stage in
            try stage.configure()
            let old = try await stage.buy("google")[0]
            try await stage.submit(old, "google", for: "una")
            try await Self.once(stage)
            let new = try #require(
                try await stage.act(old, making: "change_product", #"{"product":"gold"}"#))
            try await stage.submit(new, "google", for: "ben")
            try await Self.once(stage)
            #expect(
                try await stage.story(of: "una")
                    == ["grant monthly purchased", "revoke monthly product_changed"])
            #expect(try await stage.story(of: "ben") == ["grant gold product_changed"])
            #expect(
                try await stage.value(
                    "SELECT count(DISTINCT created_at) FROM renewald.events "
                        + "WHERE reason = 'product_changed'") == "1")
            // Handed in late, the older one gives nothing.
            let first = try await stage.buy("google")[0]
            let later = try #require(
                try await stage.act(first, making: "change_product", #"{"product":"gold"}"#))
            try await stage.submit(later, "google", for: "cid")
            try await Self.once(stage)
            try await stage.submit(first, "google", for: "dee")
            try await Self.once(stage)
            #expect(try await stage.story(of: "cid") == ["grant gold purchased"])
            #expect(try await stage.story(of: "dee") == [])
        }
    }

    @Test func aWrongAmazonUserIsCorrected() async throws {
        try await onStage { stage in
            try stage.configure()
            let made = try await stage.buy("amazon")[0]
            let wrong = Stage.Made(
                id: made.id, token: made.token, store_user_id: "another", product: made.product)
            let id = try await stage.submit(wrong, "amazon", for: "amy")
            _ = try await stage.renewald("once")
            #expect(
                try await stage.value("SELECT access FROM renewald.purchases WHERE id = \(id)")
                    == "none")
            #expect(try await stage.submit(made, "amazon", for: "amy") == id)
            try await Self.once(stage)
            #expect(try await stage.story(of: "amy") == ["grant monthly purchased"])
        }
    }
}
