import Renewal

/// Knows which purchases have been submitted since the last look, by their ids: each is news once.
/// Ids are given before the commit, so a lower one may be seen after a higher one: the look reaches
/// back behind what is seen, for as long as a submission may take. Pure.
struct Arrivals {
    /// Those with a greater id are asked for.
    private(set) var mark: Int64 = 0
    /// By id, when it was first seen.
    private var seen: [Int64: Timestamp] = [:]

    /// A submission that commits later than this after a younger one is found by the lane's turn.
    static let reach = Duration.seconds(10)

    /// - Returns: the lanes of those that were not seen before.
    mutating func learn(_ arrivals: [Arrival], at now: Timestamp) -> Set<Int32> {
        let fresh = arrivals.filter { seen[$0.id] == nil && $0.id > mark }
        for arrival in fresh { seen[arrival.id] = now }
        mark = seen.lazy.filter { $0.value <= now - Self.reach }.map(\.key).max() ?? mark
        seen = seen.filter { $0.key > mark }
        return Set(fresh.map(\.lane))
    }
}
