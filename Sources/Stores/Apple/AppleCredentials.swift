package import Renewal

/// What Apple knows an app by. At least one of the key and the shared secret has to be there.
package struct AppleCredentials: Sendable {
    package let bundleID: AppID
    /// Admits to the App Store Server API; nil where only legacy receipts are verified.
    package let apiKey: AppleAPIKey?
    /// Admits to verifyReceipt: the app's own secret or the account's.
    package let sharedSecret: Secret?

    package init(bundleID: AppID, apiKey: AppleAPIKey?, sharedSecret: Secret? = nil) {
        self.bundleID = bundleID
        self.apiKey = apiKey
        self.sharedSecret = sharedSecret
    }
}

/// A key of the App Store Server API.
///
/// App Store Server API, *Creating API keys to authorize API requests*.
package struct AppleAPIKey: Sendable {
    /// The issuer id of the In-App Purchase key section.
    package let issuerID: String
    package let keyID: String
    /// The `.p8` file: a P-256 key in PKCS#8 PEM.
    package let privateKeyPEM: Secret

    package init(issuerID: String, keyID: String, privateKeyPEM: Secret) {
        self.issuerID = issuerID
        self.keyID = keyID
        self.privateKeyPEM = privateKeyPEM
    }
}

extension AppleCredentials {
    /// With a key of the App Store Server API, and nothing else.
    package init(bundleID: AppID, issuerID: String, keyID: String, privateKeyPEM: Secret) {
        self.init(
            bundleID: bundleID,
            apiKey: AppleAPIKey(issuerID: issuerID, keyID: keyID, privateKeyPEM: privateKeyPEM))
    }
}
