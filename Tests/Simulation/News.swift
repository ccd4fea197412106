import Engine
import Renewal
import Synchronization
import TestSupport

/// The store's notifications: one for each thing that happens, some late, some doubled, some in
/// another order, some lost.
final class News: Sendable {
    private struct Piece {
        let at: Timestamp
        let hint: Hint
    }

    private let pieces: [Piece]
    private let pulls = Mutex(SeededGenerator(seed: 0))

    init(_ sold: [Subscription], _ plan: Plan) {
        var chance = SeededGenerator(plan.seed, "news")
        pulls.withLock { $0 = SeededGenerator(plan.seed, "pulls") }
        var pieces: [Piece] = []
        for one in sold {
            for (number, state) in one.states.enumerated() {
                guard plan.features.has(.hints) else { break }
                let copies = plan.hasGoodNews ? 1 : chance.any([0, 1, 1, 1, 1, 1, 1, 1, 2, 3])
                for _ in 0..<copies {
                    let late =
                        !plan.hasGoodNews && chance.chance(0.2)
                        ? chance.between(.minutes(1), .hours(12))
                        : chance.between(.seconds(1), .seconds(20))
                    let hint = Hint(
                        id: NewsID("\(one.token.text) \(number)"), subject: .token(one.token))
                    pieces.append(Piece(at: state.from + late, hint: hint))
                }
            }
        }
        self.pieces = pieces.sorted { $0.at < $1.at }
    }

    /// Up to a hundred pieces after the place, in any order.
    func page(after position: String?) -> HintPage {
        let first = position.flatMap { Int($0) } ?? 0
        let now = World.now
        var last = first
        while last < pieces.count, last < first + 100, pieces[last].at <= now { last += 1 }
        let hints = pulls.withLock { chance in
            pieces[first..<last].map(\.hint).shuffled(using: &chance)
        }
        return HintPage(
            hints: hints, position: "\(last)", hasMore: last == first + 100)
    }
}
