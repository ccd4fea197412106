/// Whether a worker may read a source of hints now: one at a time, at the source's own pace.
package enum HintTurn: Hashable, Sendable {
    /// Go on from there. `failures` is how many pulls in a row have failed; `now` is the
    /// database's time.
    case mayPull(position: String?, failures: Int, now: Timestamp)
    /// Another reads it, or it is not due: look again after that time.
    case wait(Duration)
}

/// What became of a page of hints.
package struct HintReport: Hashable, Sendable {
    /// Hints that were not heard before.
    package let fresh: Int
    /// Purchases that were made due.
    package let woken: Int
    /// Hints about what nobody has submitted yet.
    package let unclaimed: Int

    package init(fresh: Int, woken: Int, unclaimed: Int) {
        self.fresh = fresh
        self.woken = woken
        self.unclaimed = unclaimed
    }
}
