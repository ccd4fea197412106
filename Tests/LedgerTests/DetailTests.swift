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
