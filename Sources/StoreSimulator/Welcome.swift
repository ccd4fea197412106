import FoundationEssentials

/// What `serve` tells when it is ready: where everything is, for any client.
package struct Welcome: Sendable {
    private let place: Place
    private let credentials: Credentials
    private let directory: String
    private let app: String
    private let hasDemonstration: Bool
    private let configuration: String

    init(
        _ place: Place, _ credentials: Credentials, _ options: Simulator.Options,
        configuration: String
    ) {
        self.place = place
        self.credentials = credentials
        self.configuration = configuration
        directory = options.directory
        app = options.app
        hasDemonstration = options.isDemonstration
    }

    /// Names and values, in order. Secrets are named by their files.
    private var members: [(name: String, value: String)] {
        var members = [
            ("directory", directory), ("apple_base_url", place.origin),
            ("apple_sandbox_base_url", place.sandboxOrigin),
            ("apple_verify_receipt_url", place.origin + "/verifyReceipt"),
            ("apple_root_certificate", directory + "/apple-root.der"),
            ("apple_private_key", directory + "/apple.p8"),
            ("apple_key_id", credentials.keyID), ("apple_issuer_id", credentials.issuerID),
            ("apple_bundle_id", app), ("apple_app_id", String(Apple.appID)),
            ("apple_shared_secret", directory + "/apple.secret"),
            ("google_base_url", place.origin), ("google_token_url", place.origin + "/token"),
            ("google_pubsub_url", place.origin),
            ("google_service_account", directory + "/google.json"),
            ("google_package_name", app), ("amazon_base_url", place.origin),
            ("amazon_sandbox_base_url", place.sandboxOrigin),
            ("amazon_shared_secret", directory + "/amazon.secret"),
            ("amazon_sqs_queue", place.origin + AmazonQueueHandler.path),
            ("amazon_sqs_region", AWSKey.region),
            ("amazon_sqs_access_key_id", AWSKey.id),
            ("amazon_sqs_secret_access_key", directory + "/amazon-sqs.key"),
            ("control_url", place.origin + "/control"),
            ("renewald_configuration", directory + "/renewald.toml"),
        ]
        if let authority = place.authority { members.append(("tls_ca", authority)) }
        if hasDemonstration {
            members.append(("first_answer", "curl -K \(directory)/apple.curl"))
        }
        return members
    }

    /// One JSON object on one line.
    package var json: String {
        let told = JSON.object(capacity: 2000) { json in
            for (name, value) in members { json.member(name, value) }
        }
        return told.text
    }

    /// The same for a person, and the configuration for renewald.
    package var text: String {
        let width = members.map(\.name.count).max() ?? 0
        let lines = members.map { name, value in
            "  \(name)\(String(repeating: " ", count: width + 2 - name.count))\(value)"
        }
        return """
            What any client sets, and its key files:
            \(lines.joined(separator: "\n"))

            \(configuration)
            """
    }
}
