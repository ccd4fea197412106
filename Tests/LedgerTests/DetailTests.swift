import Foundation
import Postgres
import Renewal
import Testing

@testable import Ledger

/// `renewald.events.detail`: its members, as they are stored and as `docs/events.md` lists them.
struct DetailTests {
    private static let page = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../docs/events.md")

    /// Everything that can be told.
    static var full: Detail {
        var detail = Detail(
            heard: "ACTIVE", falseRenewal: true, previousProduct: "pro", durationChanged: true,
            refundedOrder: "GPA.1")
        detail.claimedBy = "bob"
        detail.commitmentEndsAt = .never
        let price = Money(currency: "EUR", units: 6, nanos: 990_000_000)
        detail.sale.region = "PT"
        detail.sale.price = price
        detail.sale.basePlan = "monthly"
        detail.sale.offer = "winter"
        detail.sale.offerTags = ["a", "b"]
        detail.sale.profileToken = "p-2"
        detail.sale.linkedAccount = "l-3"
        detail.sale.cancelReason = "others"
        detail.sale.cancelComment = "too \"loud\""
        detail.sale.replaced = .init(product: "basic", basePlan: "yearly", mode: "deferred")
        detail.sale.nextProduct = "gold"
        detail.sale.leavingProducts = ["extra"]
        detail.refund = RefundNotes(
            source: "user", reason: "remorse",
            part: RefundedPart(amount: price, share: Share(1, of: 4)))
        return detail
    }

    @Test func listsEveryMember() throws {
        let written = try String(contentsOf: Self.page, encoding: .utf8)
        let listed = written.split(separator: "\n").filter { $0.hasPrefix("| `") }.map { line in
            String(line.split(separator: "`")[1])
        }
        let object = try JSONSerialization.jsonObject(with: Data(Self.full.json.utf8))
        let members = try #require(object as? [String: Any])
        #expect(listed.filter { $0 != "detail." }.sorted() == members.keys.sorted())
    }

    @Test func writesNumbersAsNumbers() throws {
        #expect(Self.full.json.contains(#""price":6.99,"currency":"EUR","#))
        #expect(Self.full.json.contains(#""refunded_share":0.25,"refunded_amount":6.99,"#))
        #expect(Self.full.json.contains(#""offer_tags":["a","b"]"#))
    }

    @Test func isEmptyWithoutWords() {
        #expect(Detail().json == "{}")
    }

    /// Whatever a store writes, the event is stored, and reads as it was.
    @Test func keepsEveryWord() async throws {
        let stage = try await Stage()
        let words = "a \"b\" \\ \u{1}\u{1f}\n{}[],: é \u{1f600} \u{301}"
        for (given, kept) in [(words, words), ("a\0b", "a\u{fffd}b")] {
            let stored = try await stage.list(
                "SELECT $1::jsonb ->> 'heard'", [.text(Detail(heard: given).json)])
            #expect(stored.map { Array($0.utf8) } == [Array(kept.utf8)])
        }
        await stage.close()
    }
}
