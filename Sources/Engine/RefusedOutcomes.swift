import Renewal

/// Outcomes that the database refuses while it takes others, as where a right lacks that only some
/// of them need. They wait until somebody has mended it, and hold up nobody else. Their purchases
/// stay in hand: no store is asked about them again meanwhile.
struct RefusedOutcomes {
    struct Entry {
        let outcome: Outcome
        let error: LedgerError
        /// When it was refused first.
        let since: ContinuousClock.Instant
    }

    /// More are not set aside: then it is the database that takes nothing.
    static let limit = 1000
    /// How often they are tried again.
    static let pause = Duration.seconds(5)

    private var entries: [Entry] = []
    private(set) var nextTry: ContinuousClock.Instant?

    func hasRoom(for count: Int) -> Bool { entries.count + count <= Self.limit }

    mutating func add(_ refused: [Entry], pause: Duration) {
        guard !refused.isEmpty else { return }
        entries += refused
        nextTry = nextTry ?? .now + pause
    }

    /// - Returns: those to be tried again now.
    mutating func takeDue() -> [Entry] {
        guard let nextTry, nextTry <= .now else { return [] }
        return takeAll()
    }

    mutating func takeAll() -> [Entry] {
        defer { (entries, nextTry) = ([], nil) }
        return entries
    }
}

/// What became of a batch that was refused as a whole.
struct SeparatedOutcomes {
    var taken: [Outcome] = []
    /// Each by itself.
    var refused: [(outcome: Outcome, error: LedgerError)] = []
    /// Not tried to the end: the database went away, or nothing shows that it takes anything.
    var left: [Outcome] = []
}
