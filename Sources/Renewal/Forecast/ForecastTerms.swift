/// How the store of an app is asked.
package struct ForecastTerms: Hashable, Sendable {
    package var store: Store
    package var rules: Rules
    /// The quota: the most calls a second, by all workers together.
    package var callsPerSecond: Double
    /// How many of them come to be made when more is due than that.
    package var usableCallsPerSecond: Double
    /// The most of the calls that go to what is not due, 0 to 1.
    package var sweepShare = 0.0
    /// How often idle queues are looked at.
    package var poll: Duration
    /// From one reading of news of refunds alone to the next; nil where there is none.
    package var newsOfRefunds: Duration?
    /// From one reading of news of every change to the next; nil where there is none.
    package var newsOfAll: Duration?
    /// Calls that the first check of a purchase takes.
    package var callsAtFirstSight = 1

    /// What the sources of news tell of; nil without one.
    var news: NewsScope? {
        newsOfAll != nil ? .everything : newsOfRefunds != nil ? .refunds : nil
    }

    /// A call and its commit.
    static let checkTime = Duration.milliseconds(500)
    /// How long a store takes to publish news.
    static let newsDelay = Duration.seconds(2)

    package init(
        _ store: Store, rules: Rules = Rules(), callsPerSecond: Double,
        usableCallsPerSecond: Double, poll: Duration
    ) {
        self.store = store
        self.rules = rules
        self.callsPerSecond = callsPerSecond
        self.usableCallsPerSecond = usableCallsPerSecond
        self.poll = poll
    }

    /// With more calls or fewer.
    package func allowing(_ callsPerSecond: Double) -> ForecastTerms {
        var terms = self
        terms.usableCallsPerSecond *= callsPerSecond / self.callsPerSecond
        terms.callsPerSecond = callsPerSecond
        return terms
    }
}
