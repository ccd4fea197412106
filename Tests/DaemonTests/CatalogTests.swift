import FoundationEssentials
import Testing

@testable import Daemon

/// `systemd/renewald.catalog` says what the program says. After a change of the messages write it
/// anew with `RENEWALD_WRITE_CATALOG=1 swift test --filter CatalogTests`.
@Suite struct CatalogTests {
    private static let path = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "systemd/renewald.catalog")

    @Test func isInStepWithTheProgram() throws {
        let expected = CatalogEntry.catalogFile()
        if ProcessInfo.processInfo.environment["RENEWALD_WRITE_CATALOG"] != nil {
            try Data(expected.utf8).write(to: Self.path)
        }
        #expect(try String(contentsOf: Self.path, encoding: .utf8) == expected)
    }

    @Test func hasOneMessageForEachTopic() {
        #expect(CatalogEntry.all.map(\.topic).sorted() == CatalogEntry.topics.sorted())
        #expect(Set(CatalogEntry.topics).count == CatalogEntry.topics.count)
    }

    @Test func hasIdsOf128BitsNoneTwice() {
        let ids = CatalogEntry.all.map(\.id)
        #expect(Set(ids).count == ids.count)
        #expect(ids.filter { $0.count != 32 || !$0.allSatisfy(\.isHexDigit) } == [])
        #expect(ids.filter { $0 != $0.lowercased() } == [])
    }

    /// An id that has been published means the same for ever.
    @Test(arguments: [
        ("grant_purchased", PublishedIDs.grantPurchased),
        ("revoke_refunded", PublishedIDs.revokeRefunded),
        ("circuit_opened", PublishedIDs.circuitOpened),
    ])
    func keepsItsIds(_ topic: String, _ id: String) {
        #expect(CatalogEntry.id(of: topic) == id)
    }

    @Test func saysWhatHasHappenedAndWhatToDo() {
        for message in CatalogEntry.all {
            #expect(!message.subject.isEmpty, "\(message.topic)")
            let parts = message.explanation.split(separator: "\n\n")
            #expect(parts.count == 2, "\(message.topic)")
        }
    }

    /// A field that no entry has would be shown as its bare name.
    @Test func namesOnlyFieldsThatEntriesHave() {
        let event: Set<Substring> = [
            "RENEWALD_STORE", "RENEWALD_APP", "RENEWALD_USER", "RENEWALD_PURCHASE",
            "RENEWALD_PRODUCT", "RENEWALD_ENTITLEMENT",
        ]
        for message in CatalogEntry.all {
            var known = event
            if message.topic.hasPrefix("notice_") { known.remove("RENEWALD_ENTITLEMENT") }
            if message.topic.hasPrefix("problem_") {
                known.subtract(["RENEWALD_ENTITLEMENT", "RENEWALD_PRODUCT"])
            }
            let text = message.subject + message.explanation
            let fields = text.split(separator: "@", omittingEmptySubsequences: false).enumerated()
                .filter { $0.offset % 2 == 1 }.map(\.element)
            #expect(Set(fields).isSubset(of: known), "\(message.topic)")
        }
    }

    private enum PublishedIDs {
        static let grantPurchased = "bbf41c8be36a5a5610ca859ebe0a49d3"
        static let revokeRefunded = "049edc9ba8441f4022c805c7945c3e5d"
        static let circuitOpened = "ac4fd2ec1f1382d9cb303a743f210a9a"
    }
}
