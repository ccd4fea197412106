package import Ledger
package import Renewal

/// The state, and what two looks at the quota tell together.
package struct StatusReport {
    package let status: QueueStatus
    private let earlier: [BucketID: QueueStatus.Bucket]
    private let later: [BucketID: QueueStatus.Bucket]
    /// How many calls a second may be made for an app.
    package let quota: (AppKey) -> Double
    /// Apps that are configured, or were not looked for yet by any worker and are configured here.
    package let apps: [QueueStatus.App]
    /// The others that have purchases: those with most first.
    package let unknownApps: [UnknownApp]
    /// How many more there are.
    package let furtherUnknownApps: Int

    /// - Parameters:
    ///   - status: the later look.
    ///   - configured: the apps of the configuration.
    ///   - earlier: the buckets of the look before.
    ///   - nearest: the app of the configuration that was probably meant by another.
    ///   - quota: how many calls a second may be made for an app.
    package init(
        _ status: QueueStatus, configured: [AppKey], earlier: [QueueStatus.Bucket],
        nearest: (AppKey) -> AppKey?, quota: @escaping (AppKey) -> Double
    ) {
        self.status = status
        let known = Set(configured)
        apps = status.apps.filter { $0.isConfigured ?? known.contains($0.key) }
        let unknown = status.apps.filter {
            !($0.isConfigured ?? known.contains($0.key)) && $0.purchases > 0
        }.sorted { $0.purchases > $1.purchases }
        unknownApps = unknown.prefix(UnknownApp.namedLimit).map {
            UnknownApp($0.key, purchases: $0.purchases, nearest: nearest($0.key))
        }
        furtherUnknownApps = unknown.count - unknownApps.count
        self.quota = quota
        self.earlier = Dictionary(earlier.map { ($0.name, $0) }) { first, _ in first }
        later = Dictionary(status.buckets.map { ($0.name, $0) }) { first, _ in first }
    }

    /// The share of the calls between the two looks that was given away; nil before the first call.
    package func quotaUsed(by app: AppKey) -> Double? {
        let name = BucketID(of: app)
        guard let before = earlier[name], let after = later[name] else { return nil }
        let between = (after.readAt - before.readAt).microseconds
        let given = (after.freeAt - max(before.freeAt, before.readAt)).microseconds
        return between > 0 ? max(Double(given) / Double(between), 0) : nil
    }

    /// What the store asks about refunds.
    package func refunds(_ app: AppKey) -> RefundStatus? {
        status.refunds.first { $0.app == app }
    }

    /// The store has asked for no calls until then.
    package func blockedUntil(_ app: AppKey) -> Timestamp? {
        later[BucketID(of: app)]?.blockedUntil
    }

    /// Whether a worker has found that the store does not answer.
    package func hasOpenCircuit(_ app: AppKey) -> Bool {
        later[BucketID(ofCircuitOf: app)]?.blockedUntil != nil
    }
}
