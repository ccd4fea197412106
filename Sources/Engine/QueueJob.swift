import Renewal

/// What an app's queue does that takes time: a task of its session performs it.
enum QueueJob: Sendable {
    case check(Claim, CallPlace)
    case read(limit: Int, latest: Int)
    case lookAtFronts
    case keep([Claim])
    case reserve(calls: Int, stretch: Duration)

    /// What the machine wants done beside the first check; nil where that takes no time.
    init?(_ action: QueueMachine.Action) {
        switch action {
        case .read(let limit, let latest): self = .read(limit: limit, latest: latest)
        case .lookAtFronts: self = .lookAtFronts
        case .keep(let claims): self = .keep(claims)
        case .reserve(let calls, let stretch): self = .reserve(calls: calls, stretch: stretch)
        case .takeSlots, .giveSlot, .start, .admit, .turnAway, .circuitOpened, .circuitClosed,
            .circuitMoved, .paceMoved, .end:
            return nil
        }
    }
}
