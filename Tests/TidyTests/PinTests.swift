import Foundation
import Testing

/// Every package has one version, also those that others bring along: what is built tomorrow is what
/// was tested today.
@Suite struct PinTests {
    private struct Resolved: Decodable {
        struct Pin: Decodable {
            struct State: Decodable { let version: String? }
            let identity: String
            let state: State
        }
        let pins: [Pin]
    }

    @Test func everyPackageIsPinned() throws {
        let file = SourceTree.root.appending(path: "Package.resolved")
        let resolved = try JSONDecoder().decode(Resolved.self, from: Data(contentsOf: file))
        #expect(resolved.pins.count > 10)
        let manifest = try String(
            contentsOf: SourceTree.root.appending(path: "Package.swift"), encoding: .utf8)
        let lines = manifest.split(separator: "\n").filter { $0.contains(".package(url:") }
        for pin in resolved.pins {
            let line = lines.first { $0.lowercased().contains("/\(pin.identity)\"") }
            #expect(
                line?.contains("exact: \"\(pin.state.version ?? "none")\"") == true,
                "\(pin.identity) \(pin.state.version ?? "without a version")")
        }
    }
}
