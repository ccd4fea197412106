import Curl
package import Renewal

/// What Amazon knows a developer and an app by.
package struct AmazonCredentials: Sendable {
    package let appID: AppID
    /// One for the whole developer account. It is a segment of every URL, so no URL is ever shown.
    package let sharedSecret: Secret
    /// Whether a receipt that production does not know may be a tester's.
    package let allowsSandbox: Bool

    package init(appID: AppID, sharedSecret: Secret, allowsSandbox: Bool = false) {
        self.appID = appID
        self.sharedSecret = sharedSecret
        self.allowsSandbox = allowsSandbox
    }
}

/// The two segments that name a receipt.
struct AmazonIdentifier: Sendable {
    let user: PathSegment
    var receipt: PathSegment

    /// A receipt cannot be verified without its user. Tokens of the Billing Compatibility SDK have
    /// none, and are asked about in another way, which is not built.
    ///
    /// - Throws: `.unsupported` without a user, `.rejected` when either cannot be asked about.
    init(_ purchase: Purchase) throws(StoreFailure) {
        guard let userID = purchase.storeUserID, !userID.isEmpty else {
            throw .unsupported(
                reason: "a receipt of Amazon is verified with its user: submit store_user_id; "
                    + "tokens of the Billing Compatibility SDK are not supported")
        }
        user = try PathSegment(userID.text, what: "Amazon user id")
        receipt = try PathSegment(purchase.token.text, what: "receipt id")
    }
}

enum AmazonRequest {
    /// `verifyReceiptId`, version 1.0. The sandbox takes any text for a secret and so never sees
    /// the real one.
    ///
    /// <https://developer.amazon.com/docs/in-app-purchasing/iap-rvs-for-android-apps.html>
    static func verification(
        of identifier: AmazonIdentifier, in environment: StoreEnvironment, at host: StoreHost,
        secret: Secret
    ) throws(StoreFailure) -> HTTPRequest {
        let prefix: String
        let segment: String
        switch environment {
        case .production:
            prefix = ""
            segment = try PathSegment(secret.text, what: "shared secret").text
        case .sandbox:
            prefix = "/sandbox"
            segment = "sandbox"
        }
        return host.request(
            path: prefix + "/version/1.0/verifyReceiptId/developer/" + segment + "/user/"
                + identifier.user.text + "/receiptId/" + identifier.receipt.text)
    }
}
