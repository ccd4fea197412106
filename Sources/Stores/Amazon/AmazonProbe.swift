import Curl
package import Renewal

/// A question that is about no purchase: whether Amazon takes the secret.
extension AmazonStore {
    /// Asks about a receipt and a user that are none.
    ///
    /// - Throws: `.refused` where the secret is not taken, or whatever kept it from being known.
    package func probe(at now: Timestamp) async throws(StoreFailure) {
        let nothing = AmazonIdentifier(
            user: try PathSegment("renewald-doctor", what: "Amazon user id"),
            receipt: try PathSegment("renewald-doctor", what: "receipt id"))
        let request = try AmazonRequest.verification(
            of: nothing, in: .production, at: production, secret: credentials.sharedSecret)
        switch AmazonReply(try await transport.response(to: request, calling: nil), at: now) {
        case .answer, .gone, .unknownReceipt, .failed(.rejected): return
        case .failed(let failure): throw failure
        }
    }
}

extension AmazonIdentifier {
    fileprivate init(user: PathSegment, receipt: PathSegment) {
        self.user = user
        self.receipt = receipt
    }
}

extension AmazonCredentials {
    /// What can be said of the secret without asking Amazon.
    ///
    /// - Throws: when it cannot be part of a URL.
    package func check() throws(CredentialFault) {
        do throws(StoreFailure) {
            _ = try PathSegment(sharedSecret.text, what: "shared secret")
        } catch {
            throw CredentialFault(
                field: "shared_secret", sentence: "is not what Amazon gives as a shared key")
        }
    }
}
