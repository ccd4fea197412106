import Foundation
import Testing

@testable import Configuration

/// What a reload says of what has changed.
@Suite struct ReloadTests {
    private static let apps = """
        [[app]]
        store = "amazon"
        id = "a"
        shared_secret = "env:A"
        [[app]]
        store = "amazon"
        id = "b"
        shared_secret = "env:B"
        """

    private func configuration(_ text: String) throws -> Settings {
        try Settings.parse(text: text, file: "f.toml", environment: [:])
    }

    @Test func namesWhatHasChangedAndNoValue() throws {
        let old = try configuration(
            Self.apps + "\n[policy]\ngrace = \"keep\"\n[[product]]\nid = \"p\"\n"
                + "[database]\nurl = \"password=hunter2\"")
        let new = try configuration(
            Self.apps.replacingOccurrences(of: "\"b\"", with: "\"c\"")
                .replacingOccurrences(of: "env:A", with: "env:NEW")
                + "\n[policy]\ngrace = \"revoke\"\n[[product]]\nid = \"p\"\n"
                + "[engine]\nin_flight = 10\n[database]\nurl = \"password=hunter3\"")
        let said = Reload.changes(from: old, to: new)
        #expect(
            said == "changed: database.url, policy.grace, engine.in_flight, "
                + "[[app]] amazon a, [[app]] amazon b (gone), [[app]] amazon c (new)")
    }

    @Test func namesWhatHasToWaitForARestart() throws {
        let old = try configuration(Self.apps)
        let new = try configuration(
            Self.apps + "\n[database]\nurl = \"dbname=x\"\n[policy]\ngrace = \"revoke\"\n"
                + "[safety]\nbreaker = \"off\"\nconfirm_after = \"PT1H\"\n"
                + "[engine]\nin_flight = 10\nbatch = 10\nnotify = \"off\"\nlease = \"PT1M\"\n"
                + "[store.apple]\ntls_ca = \"file:/x\"\n[evidence]\nraw = \"on\"\n")
        #expect(
            Reload.waitingForRestart(from: old, to: new)
                == [
                    "database.url", "engine.notify", "engine.batch",
                    "evidence.raw",
                ])
    }

    @Test func aDefaultThatIsWrittenOutIsNoChange() throws {
        let old = try configuration(Self.apps)
        let new = try configuration(
            "# the same\n" + Self.apps + "\n[engine]\nin_flight = 200\n"
                + "[store.apple]\nrequests_per_second = 40.0")
        #expect(Reload.changes(from: old, to: new) == "no setting has changed")
    }

    @Test func manyAreCounted() throws {
        let products = (10..<60).map { "[[product]]\nid = \"p\($0)\"\n" }.joined()
        let said = Reload.changes(from: try configuration(""), to: try configuration(products))
        #expect(said.hasPrefix("changed: [[product]] p10 (new), "))
        #expect(said.hasSuffix("[[product]] p29 (new) and 30 more"))
    }
}
