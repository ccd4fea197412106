import Curl
package import Renewal

/// Questions that are about no purchase: whether Google takes the credentials.
extension GoogleStore {
    /// Asks about a purchase token that is none.
    ///
    /// - Throws: `.refused` where the account is not taken or may not look at purchases of the app,
    ///   or whatever kept it from being known.
    package func probePurchases(at now: Timestamp) async throws(StoreFailure) {
        try Self.judge(try await client.get(paths.tokenOfNothing, calling: "probe", at: now))
    }

    /// Asks for the list of voided purchases, which news of refunds comes from.
    ///
    /// - Throws: as for purchases.
    package func probeVoided(at now: Timestamp) async throws(StoreFailure) {
        let path = try paths.voided([("maxResults", "1")])
        _ = try (try await client.get(path, calling: "probe", at: now)).wholeAppBody()
    }

    private static func judge(_ reply: GoogleReply) throws(StoreFailure) {
        switch reply {
        case .answer, .gone, .failed(.rejected): return
        case .staleToken: throw .refused(reason: "status 401")
        case .failed(let failure): throw failure
        }
    }
}

extension GooglePaths {
    fileprivate var tokenOfNothing: String {
        app + "/purchases/subscriptionsv2/tokens/renewald-doctor"
    }
}

extension GooglePubSub {
    /// What can be said of a subscription without taking messages from it.
    package enum Probe: Hashable, Sendable {
        case mayBePulled
        /// It may not even be looked at; that says nothing of pulling.
        case hidden
    }

    /// Looks at the subscription; no message is pulled.
    ///
    /// - Throws: `.refused` where the account is not taken or may not pull, `.rejected` where there
    ///   is no such subscription, or whatever kept it from being known.
    package func probe(at now: Timestamp) async throws(StoreFailure) -> Probe {
        let wanted = Permissions(permissions: ["pubsub.subscriptions.consume"])
        switch try await client.get(path, calling: "probe", at: now) {
        case .answer, .gone: break
        case .staleToken: throw .refused(reason: "status 401")
        case .failed(.refused): break
        case .failed(let failure): throw failure
        }
        // Needs no permission of its own, so that the role of a subscriber is enough.
        switch try await client.post(
            path + ":testIamPermissions", wanted, calling: "probe", at: now)
        {
        case .answer(let body):
            let held = try? JSON.decode(Permissions.self, from: body).permissions
            guard held?.contains("pubsub.subscriptions.consume") == true else {
                throw .refused(reason: "pubsub.subscriptions.consume is not granted")
            }
            return .mayBePulled
        case .staleToken: throw .refused(reason: "status 401")
        case .gone, .failed(.rejected), .failed(.refused): return .hidden
        case .failed(let failure): throw failure
        }
    }

    private struct Permissions: Codable, Sendable {
        var permissions: [String]?
    }
}
