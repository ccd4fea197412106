import Foundation
import Testing

@testable import StoreSimulator

@Suite("docs/simulator.md")
struct DocumentTests {
    private static let text = Result {
        // The folder may be reached by a link; the document stands beside the real one.
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .resolvingSymlinksInPath().deletingLastPathComponent().deletingLastPathComponent()
        return try String(
            contentsOf: root.appendingPathComponent("docs/simulator.md"), encoding: .utf8)
    }

    @Test("lists the library's scenarios with their stores and titles, and no others")
    func listsTheLibrary() throws {
        let listed = try Self.text.get().split(separator: "\n").filter { $0.hasPrefix("- `") }
        let own = try ScenarioLibrary.names.map { name in
            let scenario = try Scenario(text: try #require(ScenarioLibrary.texts[name]))
            let stores = scenario.stores.map(\.rawValue).joined(separator: " ")
            return "- `\(name)` (\(stores)): \(scenario.title)"
        }
        #expect(listed.map(String.init) == own)
    }

    @Test("names every fault, every endpoint and every phrase")
    func namesEverything() throws {
        let text = try Self.text.get()
        for kind in Fault.Kind.allCases { #expect(text.contains("`\(kind.rawValue)`")) }
        for endpoint in Endpoint.allCases where endpoint != .other {
            #expect(text.contains("`\(endpoint.rawValue)`"))
        }
        for phrase in ScenarioReader.phrases { #expect(text.contains("`\(phrase.words)")) }
    }

    @Test("shows a scenario that can be lived")
    func showsAScenario() throws {
        let blocks = try Self.text.get().components(separatedBy: "```")
        let block = try #require(blocks.first { $0.contains("\ntitle ") })
        #expect(try Scenario(text: block).steps.count == 5)
    }
}
