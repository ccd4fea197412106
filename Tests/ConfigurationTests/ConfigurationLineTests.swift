import Configuration
import Testing

/// The line of a fault. Each block is a configuration and, after the arrow, where its faults are.
@Suite struct ConfigurationLineTests {
    /// The parser tells no lines, so they are found in the text: in every way to write a key.
    static let places = #"""
        # [engine]
        engine . in_flight = 0
        => 2: engine.in_flight
        ---
        "engine".'in_flight' = 0
        => 1: engine.in_flight
        ---
        engine = { poll = "PT1S", in_flight = 0 }
        => 1: engine.in_flight
        ---
        [database]
        url = """
        [engine]
        in_flight = \"""" # """
        [ engine ] # [policy]
          in_flight = 0
        => 2: database.url
        => 6: engine.in_flight
        ---
        [database]
        url = "it's \"not\" the end"
        [engine]
        in_flight = 0
        => 4: engine.in_flight
        ---
        [database]
        url = 'C:\'
        [engine]
        in_flight = 0
        => 4: engine.in_flight
        ---
        [[product]]
        id = "a"
        entitlements = [
          "x", # ]
          "]",
        ]
        kind = "x"
        [engine]
        in_flight = 0
        [[product]]
        id = "b"
        kind = "x"
        => 7: product.kind
        => 9: engine.in_flight
        => 12: product.kind
        ---
        product = [
          { id = "a" },
          { id = "b", kind = "x" },
        ]
        [store]
        amazon.requests_per_second = 0
        apple = { requests_per_second = 0 }
        => 1: product.kind
        => 6: store.amazon.requests_per_second
        => 7: store.apple.requests_per_second
        ---
        [[app]]
        store = "google"
        id = "a"
        [app.service_account]
        file = "/x"
        => 4: app.service_account
        """#

    @Test(arguments: places.split(separator: "\n---\n").map(String.init))
    func findsTheLine(_ block: String) {
        let lines = block.split(separator: "\n", omittingEmptySubsequences: false)
        let written = lines.filter { !$0.hasPrefix("=> ") }.joined(separator: "\n")
        let expected = lines.filter { $0.hasPrefix("=> ") }.map { $0.dropFirst(3) }
        let told = Settings.faults(of: written).map { $0.split(separator: ": ").prefix(2) }
        #expect(told.map { $0.joined(separator: ": ").dropFirst("f.toml:".count) } == expected)
    }
}
