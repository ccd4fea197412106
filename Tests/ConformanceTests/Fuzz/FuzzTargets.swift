import Curl
import Foundation
import Renewal
import StoreFixtures
import Synchronization
import TestSupport

@testable import Stores

/// Every decoder of what comes from outside.
enum FuzzTargets {
    static func all() async throws -> [FuzzTarget] {
        var all = try await [amazon()] + google() + apple() + appleReceipts()
        all += try pages() + news() + files()
        all += try records() + [texts(), readersOfJSON()]
        return all
    }

    static let day = TestCalendar.start + .days(10)

    private static func amazon() async throws -> FuzzTarget {
        try await .purchase(
            "amazon receipts", head: "fuzz | receipts | new", known: "renews 30",
            seeds: FuzzTarget.seeds(.amazon) { cell, _ in try AmazonScene.body(cell) })
    }

    private static func google() async throws -> [FuzzTarget] {
        func seeds(_ isMeant: @escaping (String) -> Bool) -> [[UInt8]] {
            FuzzTarget.seeds(.google) { cell, _ in
                isMeant(cell) ? try GoogleScene.body(cell) : nil
            }
        }
        return try await [
            .purchase(
                "google v2", head: "fuzz | subscriptions | new", known: "ACTIVE 30",
                seeds: seeds { !$0.hasPrefix("v1") && !$0.hasPrefix("product") }),
            .purchase(
                "google v1", head: "fuzz | subscriptions | new | v1", known: "v1 30 renews pay=1",
                seeds: seeds { $0.hasPrefix("v1") }),
            .purchase(
                "google products v2", head: "fuzz | products | new | product=lifetime",
                known: "product PURCHASED bought=1",
                seeds: seeds { $0.hasPrefix("product") && !$0.contains(" old ") }),
            .purchase(
                "google products v1", head: "fuzz | products | new | v1 product=lifetime",
                known: "product old PURCHASED bought=1",
                seeds: seeds { $0.hasPrefix("product old") }),
        ]
    }

    private static func apple() async throws -> [FuzzTarget] {
        func bodies(_ cells: [String], _ endpoint: String = "statuses") throws -> [[UInt8]] {
            try cells.map {
                Array(try AppleWire.body(endpoint, $0, "Production", day).utf8)
            }
        }
        let good = [
            "1:30", "1:30 off", "1:60", "4:30 grace=46 retry", "1:30 next=plus_year",
            "1:30 + 5:30 original=3 product=gold group=21000002 revoked=5",
        ]
        let bad = ["5:30 revoked=9", "2:9 off intent=1", "3:9 retry", "1:30 revoked=9", "none"]
        return try await [
            .purchase(
                "apple statuses", head: "fuzz | statuses | new", known: "1:30",
                seeds: bodies(good), mayEndAccess: FuzzTarget.changesStatus),
            .purchase(
                "apple statuses that end it", head: "fuzz | statuses | new", known: "1:30",
                seeds: bodies(bad)),
            .purchase(
                "apple transactions", head: "fuzz | transactions | new | product=lifetime",
                known: "none / info lifetime", seeds: bodies(["lifetime"], "info"),
                mayEndAccess: { _, _ in false }),
            histories(), forgedPayloads(),
        ]
    }

    /// The history is read for used offers, and whatever is in it never takes the verdict away.
    private static func histories() throws -> FuzzTarget {
        let scene = try AppleScene(Words("offers"))
        let statuses = try AppleWire.body("statuses", "1:30", "Production", day)
        let page = try AppleWire.body("history", "5:7 trial revoked=3 + 1:30", "Production", day)
        let purchase = Purchase(
            id: 1, userID: "ada", app: AppKey(store: .apple, id: Shop.bundle),
            token: Shop.token(1, .apple), createdAt: TestCalendar.start,
            facts: Facts(product: "plus"))
        return FuzzTarget(name: "apple histories", seeds: [Array(page.utf8)]) { input, _ in
            scene.wire.answer(at: day) { request throws(CurlError) in
                AppleWire.place(of: request.url) == "statuses" ? .json(statuses) : .json(input)
            }
            guard case .verdict(let observation) = await scene.store.ask(purchase, at: day),
                observation.status == .active
            else { throw FuzzTarget.Broken(description: "a history took the verdict away") }
            return observation.usedIntroductory != nil
        }
    }

    /// A payload that says that it was refunded, between the header and the signature of another.
    private static func forgedPayloads() async throws -> FuzzTarget {
        let entry = try AppleEntry("5:30 revoked=9", in: "Production", at: day)
        let signed = try entry.signedTransaction().split(separator: ".").map { String($0) }
        guard let payload = Base64.decodeURLSafe(signed[1].utf8) else {
            throw UnreadableCell(cell: "payload")
        }
        let whole = try AppleWire.body("statuses", "5:30 revoked=9", "Production", day)
        var json = try JSONText(whole)
        let (known, before) = try await FuzzTarget.stage("apple", "fuzz | forged | new", "1:30")
        let groups = json["data"] as? [[String: Any]] ?? []
        let last = (groups.first?["lastTransactions"] as? [[String: Any]])?.first ?? [:]
        json["data"] = nil
        let renewal = last["signedRenewalInfo"] as? String ?? ""
        return FuzzTarget(name: "apple forged payloads", seeds: [payload]) { input, seed in
            guard input != seed else { return true }
            let text =
                signed[0] + "." + Base64.encodeURLSafe(input) + "." + signed[2]
            let body = """
                {"environment":"Production","bundleId":"\(Shop.bundle)","data":[{
                "lastTransactions":[{"originalTransactionId":"420001010101001","status":5,
                "signedTransactionInfo":"\(text)","signedRenewalInfo":"\(renewal)"}]}]}
                """
            var stage = known
            let heard = try await stage.hear(body: Array(body.utf8), on: "10")
            guard case .failure(.signature) = heard.answer, heard.outcome.facts == before else {
                throw FuzzTarget.Broken(description: "a payload was believed that nobody signed")
            }
            return false
        }
    }

    private static func appleReceipts() async throws -> [FuzzTarget] {
        let answers = FuzzTarget.seeds(.apple) { cell, at in
            let reply = cell.split(separator: " / ").first { $0.hasPrefix("verify ") }
            guard let reply, !reply.contains("sandbox") else { return nil }
            return try AppleReceiptWire.body(
                String(reply.dropFirst(7)), in: "Production", at: at)
        }
        let item = AppleReceiptFixture.Item(product: "gold", type: nil)
        let files = [
            AppleReceiptFixture.app([.init(), item]), AppleReceiptFixture.xcode([.init()]),
        ]
        let old = Data(base64Encoded: AppleReceiptFixture.transaction()).map { Array($0) } ?? []
        let tokens = try [
            "receipt", "sandbox_receipt", "empty_receipt", "ios6", "twice", "broken_lines",
            "wrapped", "jws",
        ].map { Array(try AppleTokens.token($0).utf8) }
        return [
            try await verifiedReceipts(answers),
            FuzzTarget(name: "apple PKCS #7 receipts", seeds: files) { input, _ in
                guard let receipt = try? AppleReceipt(AppleReceiptFile(.app, input)) else {
                    return false
                }
                guard receipt.newest?.id.map(AppleIdentifier.isUsable) ?? true else {
                    throw FuzzTarget.Broken(description: "an id that cannot be asked about")
                }
                return true
            },
            FuzzTarget(name: "apple receipts of iOS 6", seeds: [old]) { input, _ in
                (try? AppleReceipt(AppleReceiptFile(.transaction, input))) != nil
            },
            FuzzTarget(name: "apple tokens", seeds: tokens) { input, _ in
                let text = String(decoding: input, as: UTF8.self)
                guard let token = try? AppleIdentifier(token: StoreToken(text)) else {
                    return false
                }
                if case .receipt(let file) = token { _ = try? AppleReceipt(file) }
                return true
            },
        ]
    }

    /// Only two statuses come with what was bought.
    private static func verifiedReceipts(_ seeds: [[UInt8]]) async throws -> FuzzTarget {
        let target = try await FuzzTarget.purchase(
            "apple verifyReceipt", head: "fuzz | receipts | new | no_key token=receipt",
            known: "verify 0 + 30 + pending", seeds: seeds)
        return FuzzTarget(name: target.name, seeds: seeds) { input, seed in
            guard try await target.feed(input, seed) else { return false }
            let reply = AppleReceiptReply(HTTPResponse(status: 200, body: input), at: day)
            guard case .answer(let response, _, _) = reply, [0, 21_006].contains(response.status)
            else { throw FuzzTarget.Broken(description: "an error was a verdict") }
            return true
        }
    }
}
