import Logging
import Renewal

/// How much of its calls an app's queue makes: all that are configured, until the store asks for
/// fewer (429). That shows that the store allows less than the configuration says, or that others
/// use it too. Then the queue makes fewer at once, and more again little by little.
///
/// Two more things follow a 429: the queue asks nothing for a while (`Renewal/StoreCircuit.swift`),
/// and the check comes again no sooner than `Retry-After` (`Renewal/Deciding/NextCheckTime.swift`).
struct CallPace: Hashable {
    typealias Instant = ContinuousClock.Instant

    /// Of the calls that are configured, 0 to 1.
    private(set) var share = 1.0
    private var raisedAt: Instant?

    static let cut = 0.7
    /// However small the store's quota is, a call now and then shows when it has grown. And a call
    /// of the background takes its place in the row no longer than somebody at a terminal may wait.
    static let leastShare = 0.05
    /// While the store answers, the share grows by a sixtieth of itself a second: it is back where
    /// it was after some 20 seconds, however small the store's quota is.
    static let recovery = Duration.seconds(60)

    /// The store has asked for fewer calls. What was under way by then says nothing new and is not
    /// reported.
    mutating func throttled(at now: Instant) {
        share = max(share * Self.cut, Self.leastShare)
        raisedAt = now
    }

    mutating func answered(at now: Instant) {
        guard let since = raisedAt else { return }
        // A longer time without an answer proves nothing.
        let passed = (now - since).clamped(.zero, .seconds(1))
        share = min(share * (1 + passed / Self.recovery), 1)
        raisedAt = share < 1 ? now : nil
    }

    /// From one call to the next, where `interval` is configured.
    func interval(_ interval: Duration) -> Duration { interval / share }
}

extension RunContext {
    /// A store that asks for fewer calls speaks to all workers, not to this one alone.
    func shareRetryAfter(_ answer: Answer, of app: AppKey) async {
        guard case .failure(.throttled(let retryAfter?)) = answer else { return }
        do {
            try await ledger.block(BucketID(of: app), for: retryAfter)
        } catch {
            faults.met(error, by: .quota(app))
            log.debug(.cannotTellOthersToWait(app, error))
        }
    }
}
