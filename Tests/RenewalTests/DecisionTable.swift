/// The decision table: the specification of design section 4, shown to readers as
/// `docs/decisions.md`. A step's cells are time, heard, state, access, told, holds, asks again.
enum DecisionTable {
    static let sections = [
        firstSight, running, ending, otherKinds,
        troubleWithPayment, pause, refunds, comingBack,
        chains, severalPurchases, sharing, durations,
        noVerdict, doubts, substitutes, contested, environments, staleAnswers, clocks, choices,
    ]

    static let stories = sections.flatMap(\.stories)
}
