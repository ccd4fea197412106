import Renewal
import TestSupport

/// What may happen in a run. Each run leaves a random part of it out, so that what one of them hides
/// is found without it.
enum Feature: String, CaseIterable, Sendable {
    // Of customers.
    case troubles, pauses, refunds, upgrades, transfers, lateSubmissions, changesOfMind
    // Of the store.
    case outages, nonsense, throttling, refusals, staleReplicas, slowAnswers, hints
    // Of the database.
    case databaseOutages, lostCommits, clockSteps
    // Of the workers.
    case crashes, stalls, severalWorkers
    // What is not due is asked about as well.
    case sweeps
    // The store's once more: it calls everybody expired.
    case lies
    // The workers' once more: they are stopped in order, as at each new version.
    case stops
}

struct Features: Sendable {
    private(set) var on: Set<Feature>

    /// None is left out.
    static let all = Features(on: Set(Feature.allCases))

    static func drawn(from seed: UInt64) -> Features {
        var chance = SeededGenerator(seed, "features")
        if chance.chance(0.2) { return .all }
        return Features(on: Set(Feature.allCases.filter { _ in chance.chance(0.7) }))
    }

    /// Customers do what they do, and nothing else goes wrong.
    var ofCustomersAlone: Features {
        Features(
            on: on.intersection([
                .troubles, .pauses, .refunds, .upgrades, .changesOfMind,
            ]))
    }

    func has(_ feature: Feature) -> Bool { on.contains(feature) }

    func without(_ feature: Feature) -> Features { Features(on: on.subtracting([feature])) }

    var list: [Feature] { Feature.allCases.filter(on.contains) }
}

/// A rule that is broken on purpose, to see that it is noticed.
package enum Sabotage: String, CaseIterable, Sendable {
    /// Commits are not fenced by the lease, nor compared with what was claimed.
    case fence
    /// A commit whose answer was lost is made once more.
    case twice
    /// What is no verdict is taken for an end.
    case outage
    /// Reservations of calls are granted without a row.
    case quota
    /// One purchase in a hundred is never claimed.
    case starve
    /// Nothing holds an avalanche.
    case breaker
    /// A second answer lets go what waits for a person.
    case leak
}
