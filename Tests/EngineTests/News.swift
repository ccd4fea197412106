import Logging
import Renewal
import Synchronization

@testable import Engine

/// The sources of hints, and where hints are stored.
final class News: Sendable {
    struct State {
        /// What was done, in order: `begin`, `pull 3`, `take 2`, `acknowledge a`, `end read`.
        var done: [String] = []
        var position: String?
        var pages: [Result<HintPage, StoreFailure>] = []
        var failures = 0
        var isHeldByAnother = false
        var isShut = false
        var rests: [Duration] = []
        var lines: [String] = []
        var topics: [String] = []
        /// Of unhandled news, as they are recorded.
        var types: Set<String> = []
    }

    let state = Mutex(State())
    let ended = AsyncEvent()
    private let now = Timestamp(microsecondsSinceEpoch: 1_700_000_000_000_000)

    /// But for what is forgotten, at its own times.
    var done: [String] { state.withLock { $0.done.filter { $0 != "forget" } } }

    private func note(_ what: String) { state.withLock { $0.done.append(what) } }

    func source(
        _ name: SourceID = "voided", _ interval: Duration = .milliseconds(5),
        budget: CallBudget? = nil
    ) -> HintSource {
        HintSource(
            name: name, app: AppKey(store: .google, id: "com.example.1"), endpoint: "google",
            interval: interval, budget: budget,
            pull: { position, _, _ throws(StoreFailure) in
                self.note("pull \(position ?? "-")")
                let page = self.state.withLock { state in
                    state.pages.isEmpty ? nil : state.pages.removeFirst()
                }
                return try (page ?? .success(HintPage(hints: []))).get()
            },
            acknowledge: { receipts, _, _ throws(StoreFailure) in
                self.note("acknowledge \(receipts.joined(separator: ","))")
            })
    }

    private func answer(_ round: HintRound) -> HintTurns {
        var turns = HintTurns(now: now)
        for reading in round.ended {
            note("end \(reading.outcome.word)")
            state.withLock { state in
                state.rests.append(reading.rest)
                state.position = reading.position ?? state.position
                if case .failed(_, let failures) = reading.outcome { state.failures = failures }
                if reading.outcome == .read { state.failures = 0 }
            }
        }
        for name in round.wanted {
            note(round.isEarly ? "begin early" : "begin")
            state.withLock { state in
                if state.isHeldByAnother {
                    turns.waits[name] = .milliseconds(5)
                } else {
                    turns.granted[name] = HintCursor(
                        position: state.position, failures: state.failures)
                }
            }
        }
        if !round.ended.isEmpty { ended.signal() }
        return turns
    }

    func services(_ world: World) -> EngineServices {
        var services = world.services { inForce($0) }
        services.changeStores { $0.hintSources = [source()] }
        services.hintStore = self
        return services
    }

    var log: Logger { Logger(label: "hints") { _ in Lines(news: self) } }

    struct Lines: LogHandler {
        let news: News
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.notice

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            news.state.withLock {
                $0.lines.append(event.message.description)
                $0.topics.append(event.metadata?[LogField.topic]?.description ?? "-")
            }
        }
    }
}

extension HintReading.Outcome {
    /// Such as `failed 2`.
    var word: String {
        switch self {
        case .read: "read"
        case .failed(_, let failures): "failed \(failures)"
        case .left: "left"
        }
    }
}

extension News: HintStore {
    func hintRound(
        _ round: HintRound, by worker: WorkerID
    ) async throws(LedgerError) -> HintTurns {
        answer(round)
    }

    func take(_ delivery: HintDelivery) async throws(LedgerError) -> HintReport? {
        guard !state.withLock(\.isShut) else { throw .unavailable(reason: "the door is shut") }
        note("take \(delivery.page.hints.count)")
        state.withLock { $0.position = delivery.page.position ?? $0.position }
        let types = delivery.page.unhandled.map { news in
            let isNew = state.withLock { $0.types.insert(news.type).inserted }
            return UnhandledCount(
                type: news.type, fresh: 1, isNew: isNew, isExpected: news.isExpected)
        }
        return HintReport(
            fresh: delivery.page.hints.count, woken: 0, unclaimed: 0, unhandled: types)
    }

    func forgetOldHints() async throws(LedgerError) { note("forget") }
}
