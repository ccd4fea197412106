import Configuration
import Testing

@Suite struct ListenAddressTests {
    @Test(arguments: [
        ("127.0.0.1:9464", true), ("[::1]:9464", true), ("localhost:1", true), ("0.0.0.0:1", false),
        ("[::]:1", false), ("10.0.0.1:65535", false),
    ])
    func reads(_ text: String, _ isLoopback: Bool) throws {
        let address = try #require(ListenAddress(text))
        #expect(address.isLoopback == isLoopback)
    }

    @Test(arguments: [
        "", ":1", "9464", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0:1", "256.0.0.1:1",
        "::1:1", "[::1:1", "[127.0.0.1]:1", "example.com:1", "127.0.0.1:+1", "127.0.0.1:0x1",
    ])
    func refuses(_ text: String) {
        #expect(ListenAddress(text) == nil)
    }

    @Test func needsAWordToLeaveTheMachine() throws {
        let open = "[metrics]\nlisten = \"0.0.0.0:9464\"\n"
        #expect(throws: ConfigurationFaults.self) { try parse(open) }
        #expect(try parse(open + "beyond_loopback = true\n").metrics.listen?.port == 9464)
        #expect(try parse("").metrics.listen == nil)
    }

    private func parse(_ text: String) throws -> Settings {
        try Settings.parse(text: text, file: "renewald.toml", environment: [:])
    }
}
