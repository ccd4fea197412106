package import Renewal

/// A source of hints: news that a purchase may have changed. They are pulled, never pushed.
package struct HintSource: Sendable {
    /// Names it in the database: it stays the same for as long as its place is to be kept.
    package let name: SourceID
    package let app: AppKey
    /// What it tells of.
    package let tells: NewsScope
    /// What answers: where it hangs, the sources of other endpoints are read all the same.
    package let endpoint: EndpointID
    /// From the end of one pull to the next.
    package let interval: Duration
    /// What its calls are limited to beside the app's; nil is nothing.
    package let budget: CallBudget?
    /// The longest that one pull may take, the store's own waiting for news included.
    package let patience: Duration
    /// One page, from the given place on; nil is the source's own beginning. The time is the
    /// database's; the permit is for the calls.
    package var pull: Pull
    /// Gives a page's receipts back, once its due marks are stored.
    package var acknowledge: Acknowledge

    package typealias Pull =
        @Sendable (String?, Timestamp, CallPermit) async throws(StoreFailure) -> HintPage
    package typealias Acknowledge =
        @Sendable ([String], Timestamp, CallPermit) async throws(StoreFailure) -> Void

    package init(
        name: SourceID, app: AppKey, tells: NewsScope = .everything, endpoint: EndpointID,
        interval: Duration, budget: CallBudget? = nil, patience: Duration = .seconds(30),
        pull: @escaping Pull, acknowledge: @escaping Acknowledge = { _, _, _ in }
    ) {
        self.name = name
        self.app = app
        self.tells = tells
        self.endpoint = endpoint
        self.interval = interval
        self.budget = budget
        self.patience = patience
        self.pull = pull
        self.acknowledge = acknowledge
    }
}

/// How often one endpoint of an app may be called.
package struct CallBudget: Hashable, Sendable {
    /// From the beginning of one call to that of the next, at least.
    package let apart: Duration
    package let callsPerDay: Int

    package init(apart: Duration, callsPerDay: Int) {
        self.apart = apart
        self.callsPerDay = callsPerDay
    }

    /// How long to rest after so many calls, so that a day of them is within the budget.
    func rest(after calls: Int) -> Duration { .days(1) * calls / callsPerDay }
}
