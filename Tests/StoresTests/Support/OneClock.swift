import Renewal

@testable import Stores

extension GoogleObservation {
    /// Where the database's clock and the store's agree.
    init(
        _ snapshot: GoogleSnapshot, facts: Facts, clues: Set<Clue> = [], at now: Timestamp
    ) throws(StoreFailure) {
        try self.init(snapshot, facts: facts, clues: clues, at: Moment(now: now, jitter: 0))
    }
}
