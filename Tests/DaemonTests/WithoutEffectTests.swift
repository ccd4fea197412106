import Daemon
import Testing

@Suite struct WithoutEffectTests {
    @Test func namesWhatThisVersionDoesNotActUpon() throws {
        let configuration = try parse("[policy]\nshared = \"move\"\n[store.google]\napi = \"v1\"\n")
        #expect(configuration.withoutEffect == ["store.google.api = \"v1\""])
    }

    @Test func saysNothingOfTheDefaults() throws {
        #expect(try parse("").withoutEffect.isEmpty)
    }

    private func parse(_ text: String) throws -> Configuration {
        try Configuration.parse(text: text, file: "renewald.toml", environment: [:])
    }
}
