import LedgerModel
import Renewal
import Synchronization

/// What somebody believes of each purchase, as it changes.
package struct Beliefs: Sendable {
    struct Belief: Hashable, Sendable {
        let at: Timestamp
        let isGranted: Bool
        let paidThrough: Timestamp?
    }

    /// In the order of time.
    private(set) var ofToken: [StoreToken: [Belief]] = [:]
    /// When stores were asked, in the order of time.
    private(set) var questions: [Timestamp] = []

    mutating func note(_ belief: Belief, of token: StoreToken) {
        ofToken[token, default: []].append(belief)
    }

    mutating func asked(at time: Timestamp, times: Int = 1) {
        questions += Array(repeating: time, count: times)
    }

    func last(of token: StoreToken) -> Belief? { ofToken[token]?.last }

    func isGranted(_ token: StoreToken, at time: Timestamp) -> Bool {
        ofToken[token]?.last { $0.at <= time }?.isGranted ?? false
    }
}

/// Notes what the ledger believes.
final class Believer: Sendable {
    private let state = Mutex(Beliefs())

    var beliefs: Beliefs { state.withLock(\.self) }

    func note(_ commit: ModelCommit) {
        let now = World.now
        state.withLock { beliefs in
            beliefs.asked(at: now, times: commit.outcomes.count)
            for (_, after) in commit.changes {
                beliefs.note(
                    .init(
                        at: now, isGranted: after.facts.access != .none,
                        paidThrough: after.facts.paidThrough), of: after.token)
            }
        }
    }
}
