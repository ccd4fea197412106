import Renewal
import TestSupport

/// A customer's life in one store: what happens, in its order. The number that it was drawn with
/// repeats it.
struct Life: Sendable {
    let realm: Realm
    let seed: UInt64
    let terms: Terms
    var steps: [Step]

    struct Step: Sendable, CustomStringConvertible {
        /// After the step before.
        let after: Duration
        let what: What
        var hint = Hint.lost

        var description: String {
            let days = Double(after.components.seconds) / 86_400
            let told = hint == .lost ? "" : ", hinted \(hint)"
            return "after \((days * 100).rounded() / 100) days: \(what)\(told)"
        }
    }

    enum What: Hashable, Sendable, CustomStringConvertible {
        case life(Happening)
        /// The store, or the way to it, is out of order for so long; at no time for one answer.
        case weather(Weather, lasting: Duration)
        /// We ask nothing for so many days.
        case down(days: Int)
        /// The app hands in again what it has.
        case submitAgain

        var description: String {
            switch self {
            case .life(let happening): "\(happening)"
            case .weather(let weather, let duration):
                "\(weather) for \(duration.components.seconds / 60) minutes"
            case .down(let days): "we are down for \(days) days"
            case .submitAgain: "submitted again"
            }
        }

        /// Without its figures: what is counted.
        var name: String {
            switch self {
            case .life(let happening):
                String("\(happening)".prefix { $0 != "(" })
            case .weather(.trouble, _): "trouble"
            case .weather(let weather, _): "\(weather)"
            case .down: "down"
            case .submitAgain: "submitted again"
            }
        }
    }

    /// When the store's news of a step arrives.
    enum Hint: Hashable, Sendable {
        case lost
        case once(after: Duration)
        case twice(after: Duration)
    }
}

/// What an answer may be instead of the truth.
enum Weather: Hashable, Sendable {
    /// No verdict at all, in a cell's words.
    case trouble(String)
    /// An answer that was true once.
    case behind
    /// The store does not know it.
    case notFound
    /// About something else, or with a piece missing.
    case elsewhere
}

extension Life {
    init(_ seed: UInt64, in realm: Realm) {
        var chance = SeededGenerator(seed: seed)
        self.seed = seed
        self.realm = realm
        terms = Terms(&chance, in: realm)
        let phase: Phase = chance.happens(40) ? .trial : .regular
        let first = Happening.buy(
            phase, pending: chance.happens(10), family: chance.happens(15))
        steps = [Step(after: .seconds(60), what: .life(first), hint: .once(after: .seconds(5)))]
        // What cannot happen at its time is no step.
        var truth = Truth(realm: realm, terms: terms, now: TestCalendar.start)
        truth.pass(.seconds(60))
        _ = truth.happen(first)
        let count = Int.random(in: realm.sellsOnce ? 3...8 : 6...30, using: &chance)
        for _ in 0..<count {
            let step = Self.step(&chance, in: realm, from: truth)
            truth.pass(step.after)
            if case .life(let happening) = step.what, !truth.happen(happening) { continue }
            steps.append(step)
        }
    }

    private static func step(
        _ chance: inout SeededGenerator, in realm: Realm, from truth: Truth
    ) -> Step {
        let after: Duration =
            switch Int.random(in: 0..<8, using: &chance) {
            case 0, 1: .seconds(Int.random(in: 1...600, using: &chance))
            case 2, 3: .seconds(Int.random(in: 600...86_400, using: &chance))
            case 4, 5: .seconds(Int.random(in: 86_400...864_000, using: &chance))
            case 6: .seconds(Int.random(in: 864_000...2_800_000, using: &chance))
            default: .seconds(Int.random(in: 2_800_000...6_000_000, using: &chance))
            }
        if chance.happens(30) {
            return Step(after: after, what: trouble(&chance, in: realm))
        }
        let hint: Hint =
            switch Int.random(in: 0..<10, using: &chance) {
            case 0..<3: .lost
            case 3..<9: .once(after: .seconds(chance.any([0, 5, 60, 600, 7200])))
            default: .twice(after: .seconds(chance.any([0, 60, 86_400])))
            }
        var then = truth
        then.pass(after)
        for _ in 0..<12 {
            let happening = happening(&chance)
            var tried = then
            if tried.happen(happening) {
                return Step(after: after, what: .life(happening), hint: hint)
            }
        }
        return Step(after: after, what: .submitAgain)
    }

    private static func happening(_ chance: inout SeededGenerator) -> Happening {
        let products = ["plus", "plus_year", "gold"]
        return switch Int.random(in: 0..<42, using: &chance) {
        case 0..<5: .cardFails
        case 5..<10: .cardMended
        case 10..<13: .cancel
        case 13..<15: .uncancel
        case 15..<17: .refund
        case 17..<19: .refundPast
        case 19, 20: .refundReversed
        case 21, 22: .upgrade(to: chance.any(products))
        case 23, 24: .change(to: chance.any(products))
        case 25..<29: .resubscribe
        case 29: .familyRemoved
        case 30: .familyReturned
        case 31, 32: .pause(days: chance.any([7, 30, 90]))
        case 33: .resume
        case 34: .askPrice
        case 35: .acceptPrice
        case 36: .withdrawn
        case 37, 38: .extend(days: chance.any([1, 3, 14]))
        case 39, 40: .buyAnew
        default: .pay
        }
    }

    private static func trouble(_ chance: inout SeededGenerator, in realm: Realm) -> What {
        let lasting: Duration = chance.any([
            .zero, .zero, .zero, .minutes(5), .minutes(5), .hours(2), .hours(2),
            chance.any([.hours(7), .days(1), .days(9)]),
        ])
        switch Int.random(in: 0..<12, using: &chance) {
        case 0..<4: return .weather(.trouble(chance.any(realm.troubles)), lasting: lasting)
        case 4, 5, 6: return .weather(.behind, lasting: min(lasting, .days(1)))
        case 7: return .weather(.notFound, lasting: .zero)
        case 8, 9: return .weather(.elsewhere, lasting: min(lasting, .days(1)))
        case 10: return .down(days: chance.any([1, 8, 45]))
        default: return .submitAgain
        }
    }
}

extension Realm {
    fileprivate var troubles: [String] {
        let common = ["500", "503", "timeout", "html", "truncated", "empty", "429"]
        return switch self {
        case .apple, .appleProducts: common + ["401", "403"]
        case .receipts:
            (["500", "timeout", "html", "truncated", "empty"] + receiptTroubles).map {
                "verify " + $0
            }
        case .googleV2, .googleV1, .googleProducts, .googleProductsV1:
            common + ["401", "403", "404", "400"]
        case .amazon, .amazonProducts: common + ["400", "496", "497"]
        }
    }

    private var receiptTroubles: [String] { ["21002", "21003", "21004", "21005", "21009"] }
}
