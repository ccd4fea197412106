package import Renewal

/// What the engine works with.
package struct EngineServices: Sendable {
    package var ledger: any EngineLedger
    package var stores: any EngineStores
    package var observer: any EngineObserver
    /// Nil where no source of hints is read.
    package var hintStore: (any HintStore)?
    /// Nil where nothing is asked about before it is due.
    package var sweepStore: (any SweepStore)?
    /// Nil where no store is answered.
    package var refundStore: (any RefundStore)?
    /// Nil where the poll alone finds what is due.
    package var news: (any DueNews)?
    /// Of this worker, for people.
    package var workerName: String

    package init(
        ledger: any EngineLedger, stores: any EngineStores,
        observer: any EngineObserver = SilentObserver(), hintStore: (any HintStore)? = nil,
        sweepStore: (any SweepStore)? = nil, refundStore: (any RefundStore)? = nil,
        news: (any DueNews)? = nil, workerName: String
    ) {
        self.ledger = ledger
        self.stores = stores
        self.observer = observer
        self.hintStore = hintStore
        self.sweepStore = sweepStore
        self.refundStore = refundStore
        self.news = news
        self.workerName = workerName
    }
}

/// The stores as the engine needs them.
package protocol EngineStores: Sendable {
    /// Those that are configured now; a reload may change them.
    var apps: [AppKey] { get }
    /// Where news comes from.
    var hintSources: [HintSource] { get }
    /// Asks the store of the claim's app. Never fails: a failure is an answer. The permit is for
    /// the calls beyond the first.
    func ask(_ claim: Claim, _ permit: CallPermit) async -> AnsweredCall
    /// Tells the store that the purchase has arrived. The permit is for all calls.
    ///
    /// - Returns: whether it has heard, or does not wait for it.
    func acknowledge(_ claim: Claim, _ permit: CallPermit) async -> Bool
    /// Answers a question about a refund. Never fails: a failure is in what came of it. The permit
    /// is for all calls.
    func answer(
        _ reply: RefundReply, at now: Timestamp, _ permit: CallPermit
    ) async -> RefundSending
    /// Makes what is kept of a check that mattered; nil where nothing is kept.
    func evidence(of answered: AnsweredCall) -> Evidence?
}

/// Who is told what the engine does.
package protocol EngineObserver: Sendable {
    /// After each commit.
    func committed(_ report: CommitReport)
    /// After each page of news that said something about refunds.
    func told(_ notices: [RefundNotice])
    /// When the circuit of an app has moved.
    func circuitMoved(of app: AppKey, to circuit: StoreCircuit)
    /// When an app's queue makes more or fewer of its calls: of those that are configured, 0 to 1.
    func paceMoved(of app: AppKey, to share: Double)
    /// After each step of an app's sweep that has made something due: how much, and how often the
    /// sweep comes to ask about what changes most often.
    func swept(_ app: AppKey, _ count: Int, every interval: Duration)
}

package struct SilentObserver: EngineObserver {
    package init() {}
    package func committed(_ report: CommitReport) {}
    package func told(_ notices: [RefundNotice]) {}
    package func circuitMoved(of app: AppKey, to circuit: StoreCircuit) {}
    package func paceMoved(of app: AppKey, to share: Double) {}
    package func swept(_ app: AppKey, _ count: Int, every interval: Duration) {}
}
