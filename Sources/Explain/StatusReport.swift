package import Ledger
package import Renewal

/// The state, and what two looks at the quota tell together.
package struct StatusReport {
    package let status: QueueStatus
    private let earlier: [BucketID: QueueStatus.Bucket]
    private let later: [BucketID: QueueStatus.Bucket]
    /// How many calls a second may be made for an app.
    package let quota: (AppKey) -> Double
    private let safety: BreakerPolicy
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
    ///   - safety: when the breaker trips.
    package init(
        _ status: QueueStatus, configured: [AppKey], earlier: [QueueStatus.Bucket],
        nearest: (AppKey) -> AppKey?, quota: @escaping (AppKey) -> Double,
        safety: BreakerPolicy = BreakerPolicy()
    ) {
        self.status = status
        self.safety = safety
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

    /// The share of the time between the two looks that was given to calls; nil before the first
    /// call. What a stretch has before the earlier look or beyond the later one does not count.
    package func quotaUsed(by app: AppKey) -> Double? {
        let name = BucketID(of: app)
        guard let before = earlier[name], let after = later[name] else { return nil }
        let between = (after.readAt - before.readAt).microseconds
        let old = min(before.freeAt, after.freeAt, after.readAt) - before.readAt
        let new = after.freeAt - max(before.freeAt, before.readAt)
        let ahead = max(after.freeAt - max(after.readAt, before.freeAt), .zero)
        let given = max(old, .zero) + max(new - ahead, .zero)
        return between > 0 ? min(Double(given.microseconds) / Double(between), 1) : nil
    }

    /// What the store asks about refunds.
    package func refunds(_ app: AppKey) -> RefundStatus? {
        status.refunds.first { $0.app == app }
    }

    /// The store has asked for no calls until then.
    package func blockedUntil(_ app: AppKey) -> Timestamp? {
        later[BucketID(of: app)]?.blockedUntil
    }

    /// Since when a person lets nobody ask the store.
    package func pausedAt(_ app: AppKey) -> Timestamp? { later[BucketID(of: app)]?.pausedAt }

    /// When the app's breaker has tripped; nil while it lets revocations through.
    package func trippedAt(_ app: AppKey) -> Timestamp? {
        standing(of: app).flatMap { $0.breaker(under: safety).count.trip?.at }
    }

    /// Revocations of the app that are held.
    package func held(_ app: AppKey) -> Int64 { standing(of: app)?.waiting ?? 0 }

    package var held: Int64 { status.breakers.reduce(0) { $0 + $1.waiting } }

    package var hasTripped: Bool { status.breakers.contains { trippedAt($0.app) != nil } }

    private func standing(of app: AppKey) -> BreakerStanding? {
        status.breakers.first { $0.app == app }
    }

    /// Whether a worker has found that the store does not answer.
    package func hasOpenCircuit(_ app: AppKey) -> Bool {
        later[BucketID(ofCircuitOf: app)]?.blockedUntil != nil
    }
}
