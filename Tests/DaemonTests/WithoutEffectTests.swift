import Daemon
import Testing

@Suite struct WithoutEffectTests {
    @Test func saysNothingOfWhatIsActedUpon() throws {
        #expect(try parse("").withoutEffect.isEmpty)
        #expect(try parse("[store.google]\napi = \"v1\"\n").withoutEffect.isEmpty)
    }

    private func parse(_ text: String) throws -> Configuration {
        try Configuration.parse(text: text, file: "renewald.toml", environment: [:])
    }
}
