import Curl
import Foundation
import Renewal
import StoreFixtures
import Testing

@testable import Stores

/// How verifyReceipt is asked, and what its statuses come to.
struct AppleReceiptStatusTests {
    /// What production and the sandbox answer, whether the environment is known, and what comes of
    /// it with how many calls. `!` is answered only to a question without the secret.
    static let pairs = Case.all(
        """
        case: unknown; 21007; ok
        hear: active, sandbox
        calls: 2

        case: production; 21007; ok
        hear: mismatch environment
        calls: 1

        case: sandbox; ok; 21008
        hear: mismatch environment
        calls: 1

        case: unknown; 21007; 21008
        hear: unreachable
        calls: 2

        case: unknown; 21002; ok
        hear: rejected
        calls: 1

        case: unknown; 21003; -
        hear: rejected
        calls: 2

        case: unknown; 21004; -
        hear: refused
        calls: 2

        case: unknown; ok!; -
        hear: active, production
        calls: 2

        case: unknown; 21005; -
        hear: unreachable
        calls: 1

        case: unknown; 21009; -
        hear: unreachable
        calls: 1

        case: unknown; 21010; -
        hear: doubt not_found
        calls: 1

        case: unknown; 21010 "is_retryable":true; -
        hear: unreachable
        calls: 1

        case: unknown; 21010 "is_retryable":false; -
        hear: doubt not_found
        calls: 1

        case: unknown; 21104 "is-retryable":true; -
        hear: unreachable
        calls: 1

        case: unknown; 21157 "is_retryable":0; -
        hear: rejected
        calls: 1

        case: unknown; 21199; -
        hear: unreachable
        calls: 1

        case: unknown; 21000; -
        hear: malformed status 21000
        calls: 1

        case: unknown; 21001; -
        hear: unreachable
        calls: 1

        case: unknown; 4; -
        hear: malformed status 4
        calls: 1

        case: unknown; html; -
        hear: malformed body
        calls: 1

        case: unknown; empty; -
        hear: malformed body
        calls: 1

        case: unknown; 503; -
        hear: unreachable
        calls: 1

        case: unknown; 429; -
        hear: throttled 30
        calls: 1

        case: unknown; 21002 "exception":"java.lang.NullPointerException"; -
        hear: rejected
        calls: 1

        case: unknown; control; -
        hear: active, production
        calls: 1
        """)

    @Test(arguments: pairs)
    func findsTheEnvironmentAndSortsStatuses(_ row: Case) async throws {
        let cells = row.name.components(separatedBy: "; ")
        let world = FakeWorld(clock: AppleFixture.now) { request async throws(CurlError) in
            let isSandbox = request.url == "https://try.example/verify"
            let body = String(decoding: request.body ?? [], as: UTF8.self)
            return Self.response(
                cells[isSandbox ? 2 : 1], isSandbox ? "Sandbox" : "Production",
                hasSecret: body.contains(#""password":"5e0c1d""#))
        }
        let known = StoreEnvironment(rawValue: cells[0])
        let answer = try await AppleVerifyReceiptTests.store(world).ask(
            AppleVerifyReceiptTests.receipt(environment: known), at: AppleFixture.now)
        #expect(summary(answer).hasPrefix(row["hear"] ?? "?"))
        #expect("\(world.requests.count)" == row["calls"])
        #expect(world.extraCalls == world.requests.count - 1)
    }

    private static func response(
        _ word: String, _ environment: String, hasSecret: Bool
    ) -> HTTPResponse {
        let fine = #"""
            {"status":0,"environment":"\#(environment)","receipt":{"bundle_id":"com.example.reader",
            "in_app":[\#(AppleVerifyReceiptTests.month)]}}
            """#
        switch word {
        case "ok": return .json(fine)
        case "ok!": return .json(hasSecret ? #"{"status":21004}"# : fine)
        case "html": return .json("<html>Welcome</html>")
        case "empty": return .json("")
        case "503": return .json("<html>", status: 503)
        case "429": return HTTPResponse(status: 429, retryAfter: "1774008030000")
        case "control": return .json(fine.replacing("\"plus\"", with: "\"plus\",\"x\":\"a\u{1}b\""))
        default:
            let words = word.split(separator: " ", maxSplits: 1)
            let rest = words.count > 1 ? "," + words[1] : ""
            return .json(#"{"status":\#(words[0])\#(rest)}"#)
        }
    }

    @Test func sendsTheReceiptInItsOneFormWithTheSecret() async throws {
        let world = FakeWorld(clock: AppleFixture.now) { _ async throws(CurlError) in
            .json(#"{"status":21005}"#)
        }
        let text = AppleReceiptFixture.base64(AppleReceiptFixture.app())
        _ = try await AppleVerifyReceiptTests.store(world).ask(
            purchase(.apple, token: "\r\n" + text.replacing("+", with: "-")), at: AppleFixture.now)
        let request = try #require(world.requests.first)
        #expect(request.method == .post && request.url == "https://buy.example/verify")
        #expect(request.header("Content-Type") == "application/json")
        #expect(
            String(decoding: request.body ?? [], as: UTF8.self)
                == #"{"password":"5e0c1d","receipt-data":"\#(text)"}"#)
    }

    /// A sandbox receipt is tried in the sandbox first; that it is one decides nothing.
    @Test func triesTheLikelierEnvironmentFirst() async throws {
        let world = FakeWorld(clock: AppleFixture.now) { _ async throws(CurlError) in
            .json(#"{"status":21005}"#)
        }
        _ = try await AppleVerifyReceiptTests.store(world).ask(
            AppleVerifyReceiptTests.receipt(AppleReceiptFixture.app(type: "ProductionSandbox")),
            at: AppleFixture.now)
        #expect(world.requests.map(\.url) == ["https://try.example/verify"])
    }

    @Test func keepsTheNewestReceiptOnlyWhereItTellsMore() async throws {
        let same = AppleReceiptFixture.base64(AppleReceiptFixture.app(type: "ProductionVPP"))
        let newer = AppleReceiptFixture.base64(
            AppleReceiptFixture.app([.init(transaction: "1"), .init(transaction: "2")]))
        for (latest, kept) in [(same, nil), (newer, newer), ("AAAA", nil)] as [(String, String?)] {
            let body = #"""
                {"status":0,"receipt":{"bundle_id":"com.example.reader"},
                "latest_receipt_info":[\#(AppleVerifyReceiptTests.month)],"latest_receipt":"\#(latest)"}
                """#
            let world = FakeWorld(clock: AppleFixture.now) { _ async throws(CurlError) in
                .json(body)
            }
            let answer = try await AppleVerifyReceiptTests.store(world).ask(
                AppleVerifyReceiptTests.receipt(), at: AppleFixture.now)
            guard case .verdict(let observation) = answer else {
                Issue.record("\(summary(answer))")
                return
            }
            #expect(observation.nextToken?.text == kept)
            #expect(!observation.isMigrated)
            #expect(observation.group == "21098765")
            #expect(observation.usedIntroductory == false)
        }
    }

    @Test func asksNothingWithoutAKeyButAboutReceipts() async throws {
        let world = FakeWorld(clock: AppleFixture.now) { _ async throws(CurlError) in .json("{}") }
        for token in ["420001010101001", "eyJhbGciOiJFUzI1NiJ9.eyJ9.AA"] {
            let answer = try await AppleVerifyReceiptTests.store(world).ask(
                purchase(.apple, token: token), at: AppleFixture.now)
            #expect(summary(answer) == "unsupported")
        }
        #expect(world.requests.isEmpty)
    }

    @Test func needsAKeyOrASecret() throws {
        let world = FakeWorld(clock: AppleFixture.now) { _ async throws(CurlError) in .json("{}") }
        #expect(throws: CredentialFault.self) {
            try AppleVerifyReceiptTests.store(world, secret: nil)
        }
    }
}
