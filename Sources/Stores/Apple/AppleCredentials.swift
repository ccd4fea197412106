/// What Apple knows an app by.
///
/// App Store Server API, *Creating API keys to authorize API requests*.
package struct AppleCredentials: Sendable {
    package let bundleID: String
    /// The issuer id of the In-App Purchase key section.
    package let issuerID: String
    package let keyID: String
    /// The `.p8` file: a P-256 key in PKCS#8 PEM.
    package let privateKeyPEM: Secret

    package init(bundleID: String, issuerID: String, keyID: String, privateKeyPEM: Secret) {
        self.bundleID = bundleID
        self.issuerID = issuerID
        self.keyID = keyID
        self.privateKeyPEM = privateKeyPEM
    }
}
