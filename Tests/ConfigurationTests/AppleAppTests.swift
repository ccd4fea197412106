import Configuration
import Testing

/// An app of Apple has a key, a shared secret, or both.
struct AppleAppTests {
    private static let key = """
        issuer_id = "3f0b"
        key_id = "7KQ2"
        private_key = "env:KEY"
        """

    @Test(arguments: [
        (key, true, false), ("shared_secret = \"env:A\"", false, true),
        (key + "\nshared_secret = \"env:A\"", true, true),
    ])
    func needsAKeyOrASharedSecret(lines: String, hasKey: Bool, hasSecret: Bool) throws {
        let text = "[[app]]\nstore = \"apple\"\nid = \"a\"\n" + lines + "\n"
        let configuration = try Settings.parse(text: text, file: "f", environment: [:])
        guard case .apple(let app)? = configuration.apps.first else {
            Issue.record("no app of Apple")
            return
        }
        #expect((app.apiKey != nil) == hasKey)
        #expect((app.sharedSecret != nil) == hasSecret)
        #expect(configuration.apps[0].secrets.count == (hasKey ? 1 : 0) + (hasSecret ? 1 : 0))
        #expect(configuration.stores.readsOffers)
    }

    @Test func readsNoOffersWhereNoneAreKept() throws {
        let configuration = try Settings.parse(
            text: "[policy]\noffers = \"off\"\n", file: "f", environment: [:])
        #expect(!configuration.stores.readsOffers)
    }
}
