/// A place in an app's row of calls: one call may start.
package struct CallPlace: Hashable, Sendable {
    /// Later the call would come too close to others: it takes another place. Nil where nobody
    /// counts the calls, or where it has to be made all the same.
    package let startsBy: ContinuousClock.Instant?

    package init(startsBy: ContinuousClock.Instant?) { self.startsBy = startsBy }

    /// For a call that may start at any time.
    package static let anyTime = CallPlace(startsBy: nil)
}

/// Leave for the calls of one piece of work, such as a check. It goes down to whoever calls a
/// store: the first call has its place, each further one waits for its own.
package struct CallPermit: Sendable {
    /// The place of the first call.
    package let first: CallPlace
    private let turn: @Sendable () async -> CallPlace

    /// - Parameters:
    ///   - first: the place of the first call.
    ///   - turn: waits for a further place. Without one what was begun gets done all the same.
    package init(
        _ first: CallPlace = .anyTime, turn: @escaping @Sendable () async -> CallPlace
    ) {
        self.first = first
        self.turn = turn
    }

    /// The same for work whose first call has another place.
    package func beginning(at first: CallPlace) -> CallPermit {
        CallPermit(first, turn: turn)
    }

    /// Waits for a place for a further call.
    @discardableResult
    package func wait() async -> CallPlace { await turn() }

    /// Where nobody counts the calls.
    package static let free = CallPermit { .anyTime }
}
