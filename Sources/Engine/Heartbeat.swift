package import Renewal
import Synchronization

/// Shows from outside whether the work advances. Each part of it says, again and again, by when it
/// will have made its next step; a part whose time has passed is stuck.
package final class Heartbeat: Sendable {
    package enum Part: Hashable, Sendable {
        /// The daemon before the engine runs.
        case start
        /// Looking which apps have something due.
        case queues
        /// Taking what is due, for one app.
        case queue(AppKey)
        /// The checks of one app that are under way.
        case checks(AppKey)
        case leases
        case commits
        /// Clearing what a crash has left.
        case suspects
        /// Asking about what is not due.
        case sweep
        /// Looking which sources of hints are due, and telling what was read.
        case news
        /// Reading a source of hints, by its name.
        case hints(SourceID)
        /// Telling a store that a purchase has arrived, by its id.
        case acknowledgement(Int64)
        /// Looking which questions about refunds are to be answered.
        case refunds
        /// Answering one of them, by its id.
        case refund(Int64)
    }

    private let deadlines = Mutex<[Part: ContinuousClock.Instant]>([:])

    package init() {}

    /// The part has made a step; the next comes within the given time, unless there is none.
    package func expect(_ part: Part, within limit: Duration, unless isIdle: Bool = false) {
        deadlines.withLock { $0[part] = isIdle ? nil : .now + limit }
    }

    /// The part has nothing to do until it says so.
    package func rest(_ part: Part) {
        deadlines.withLock { $0[part] = nil }
    }

    /// Waits for a turn to call. The part is not stuck meanwhile, however long that takes; its next
    /// step comes within the given time after that.
    func pausing<Value>(
        _ part: Part, within limit: Duration, _ wait: () async -> Value
    ) async -> Value {
        rest(part)
        defer { expect(part, within: limit) }
        return await wait()
    }

    /// The parts that should have made a step by the given time and have not.
    package func overdue(at now: ContinuousClock.Instant = .now) -> Set<Part> {
        deadlines.withLock { deadlines in
            Set(deadlines.lazy.filter { $0.value < now }.map(\.key))
        }
    }
}

extension Heartbeat.Part {
    /// Such as `the checks of google com.example.reader`.
    package var title: String {
        switch self {
        case .start: "the start"
        case .queues: "the search for due purchases"
        case .queue(let app): "the queue of \(app.title)"
        case .checks(let app): "the checks of \(app.title)"
        case .leases: "the leases"
        case .commits: "the commits"
        case .suspects: "the checks that a crash left"
        case .sweep: "the sweep of what is not due"
        case .news: "the search for news"
        case .hints(let source): "the news of \(source)"
        case .acknowledgement(let purchase): "the acknowledgement of purchase \(purchase)"
        case .refunds: "the search for refund requests"
        case .refund(let request): "the answer to refund request \(request)"
        }
    }
}

extension Lane {
    var title: String { app.title }
}

extension AppKey {
    var title: String { "\(store.rawValue) \(id)" }
}
