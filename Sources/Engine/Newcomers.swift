import Renewal
import Synchronization

/// Users of whom a purchase is in hand for its first check, and who waits for that. Whoever has
/// bought something else before the one is over has never been without: what is taken from them is
/// settled together with what they get, or after it.
final class Newcomers: Sendable {
    private struct State {
        var ids: [UserID: Set<Int64>] = [:]
        var waiting: [UserID: [AsyncEvent]] = [:]
    }

    private let state = Mutex(State())

    /// The claim is in hand.
    func add(_ claim: Claim) {
        guard claim.isFirst else { return }
        state.withLock { state in
            _ = state.ids[claim.purchase.userID, default: []].insert(claim.purchaseID)
        }
    }

    /// The claim is settled, or let go.
    func remove(_ claim: Claim) {
        guard claim.isFirst else { return }
        let user = claim.purchase.userID
        let waiting = state.withLock { state -> [AsyncEvent] in
            state.ids[user]?.remove(claim.purchaseID)
            guard state.ids[user]?.isEmpty == true else { return [] }
            state.ids[user] = nil
            return state.waiting.removeValue(forKey: user) ?? []
        }
        for event in waiting { event.signal() }
    }

    /// Waits until no purchase of the user is in hand for its first check, for so long at most.
    func wait(for user: UserID, upTo limit: Duration) async {
        let event = AsyncEvent()
        let waits = state.withLock { state in
            guard state.ids[user] != nil else { return false }
            state.waiting[user, default: []].append(event)
            return true
        }
        guard waits else { return }
        await event.wait(upTo: limit)
        state.withLock { state in
            state.waiting[user]?.removeAll { $0 === event }
            if state.waiting[user]?.isEmpty == true { state.waiting[user] = nil }
        }
    }
}

extension Claim {
    fileprivate var isFirst: Bool { purchase.facts.state == .new }
}
