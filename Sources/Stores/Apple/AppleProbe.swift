import Curl
package import Renewal

/// Questions that are about no purchase: whether Apple takes the credentials.
extension AppleStore {
    /// Asks the App Store Server API about a transaction that is none.
    ///
    /// - Throws: `.refused` where the key is not taken, or whatever kept it from being known.
    package func probeKey(at now: Timestamp) async throws(StoreFailure) {
        guard let api else { return }
        var calls = AppleCalls(api, at: now)
        switch try await calls.reply(to: .transaction("1"), from: .production) {
        case .answer, .notFound, .invalidIdentifier: return
        case .unauthorized: throw .refused(reason: "status 401")
        case .failed(let failure): throw failure
        }
    }

    /// Asks verifyReceipt about an empty receipt. It answers 21002 whatever the secret is: only a
    /// receipt of the app would tell whether that is right.
    ///
    /// - Throws: `.refused` where the secret is not taken, or whatever kept it from being known.
    package func probeReceipts(at now: Timestamp) async throws(StoreFailure) {
        guard let verifyReceipt else { return }
        switch try await verifyReceipt.replyAboutNothing(at: now) {
        case .unauthentic(status: 21_004): throw .refused(reason: "status 21004")
        case .answer, .misdirected, .unauthentic, .noAccount, .failed(.rejected): return
        case .failed(let failure): throw failure
        }
    }
}

extension AppleVerifyReceipt {
    fileprivate func replyAboutNothing(
        at now: Timestamp
    ) async throws(StoreFailure) -> AppleReceiptReply {
        guard let endpoint = endpoints[.production] else {
            throw .unsupported(reason: "verify_receipt_url is not configured")
        }
        let response = try await transport.response(
            to: request("", to: endpoint, withSecret: true), calling: nil)
        return AppleReceiptReply(response, at: now)
    }
}

extension AppleAPIKey {
    /// What can be said of the key without asking Apple.
    ///
    /// - Throws: when it cannot sign.
    package func check(bundleID: AppID) throws(CredentialFault) {
        _ = try AppleTokens(self, bundleID: bundleID)
    }

    /// Whether the ids look as App Store Connect shows them: a UUID, and ten letters and digits.
    package var oddIDs: [CredentialFault] {
        var odd: [CredentialFault] = []
        let groups = issuerID.split(separator: "-", omittingEmptySubsequences: false)
        let isUUID =
            groups.map(\.count) == [8, 4, 4, 4, 12]
            && groups.joined().allSatisfy { $0.isASCII && $0.isHexDigit }
        if !isUUID { odd.append(CredentialFault(field: "issuer_id", sentence: "is not a UUID")) }
        let isKeyID =
            keyID.count == 10
            && keyID.allSatisfy { $0.isASCII && ($0.isUppercase || $0.isNumber) }
        if !isKeyID {
            odd.append(
                CredentialFault(
                    field: "key_id", sentence: "is not ten capital letters and digits"))
        }
        return odd
    }
}
