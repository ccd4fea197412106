import Foundation
import TestSupport
import Testing

/// Random sequences of what can happen to a purchase, in every store, against the truth.
///
/// `SOAK=1000000` lives so many steps, from a seed that is printed. `RENEWALD_SEED` begins with that
/// seed instead, and `RENEWALD_LIFE='google v2'` lives the one life of it alone.
@Suite struct LivesTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let soak = environment["SOAK"].flatMap { Int($0) }
    private static let only = environment["RENEWALD_LIFE"].flatMap { Realm(rawValue: $0) }
    private static let usualSeed: UInt64 = 7
    private static let usualSteps = 14_000
    /// A soak says so often how far it is.
    private static let stepsBetweenWords = 100_000

    @Test(.timeLimit(.minutes(soak == nil ? 10 : 600)))
    func comeToTheTruth() async throws {
        let first = Self.soak == nil && Self.only == nil ? Self.usualSeed : Seeds.fresh()
        let wanted = Self.only == nil ? Self.soak ?? Self.usualSteps : 1
        let realms = Self.only.map { [$0] } ?? Realm.allCases
        var lives = Lives()
        var seed = first
        var said = 0
        let start = ContinuousClock().now
        try Self.tell("seed \(first)")
        while lives.steps < wanted {
            for realm in realms {
                do {
                    try await lives.live(seed, in: realm)
                } catch let failure as Lives.Failure {
                    let kind = "\(realm.rawValue): \(failure.rule)"
                    if Self.isBeingMended(kind) {
                        try Self.tell("being mended: \(failure)")
                    } else {
                        Issue.record("\(failure)")
                    }
                }
            }
            guard Self.only == nil else { break }
            seed &+= 1
            if lives.steps / Self.stepsBetweenWords > said {
                said = lives.steps / Self.stepsBetweenWords
                try Self.tell(lives.summary)
            }
        }
        let seconds = (ContinuousClock().now - start).components.seconds
        try Self.tell("\(lives.summary), \(seconds) s")
        for realm in realms { try Self.tell(lives.account(of: realm)) }
        guard Self.only == nil else { return }
        for realm in realms {
            for name in realm.mustHappen {
                let count = lives.counts[realm]?[name] ?? 0
                #expect(count >= 1, "\(realm.rawValue): \(name) happens \(count) times")
            }
        }
    }

    /// Found, and not mended yet.
    private static func isBeingMended(_ kind: String) -> Bool { beingMended.contains(kind) }
    private static let beingMended: Set<String> = []

    /// Without it a printed seed would be of no use.
    @Test func areRepeatedByTheirSeed() async throws {
        for realm in Realm.allCases {
            var stories: [[String]] = []
            for _ in 0..<2 {
                var run = LifeRun(
                    Life(7, in: realm), on: try Lives.scene(of: realm), tellsStory: true)
                do { try await run.play() } catch is Broken {}
                stories.append(run.story)
            }
            #expect(stories[0] == stories[1] && !stories[0].isEmpty)
        }
    }

    /// At once, not when a buffer is full: a soak is long.
    private static func tell(_ text: String) throws {
        try FileHandle.standardOutput.write(contentsOf: Data("lives: \(text)\n".utf8))
    }
}

extension Lives {
    fileprivate var summary: String {
        let broken = failures.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        return "\(lives) lives, \(steps) steps, of which \(checks) checks, "
            + (broken.isEmpty ? "nothing found" : "found: " + broken.joined(separator: "; "))
    }

    fileprivate func account(of realm: Realm) -> String {
        let counts = (counts[realm] ?? [:]).sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        return "\(realm.rawValue): "
            + counts.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
    }
}

extension Realm {
    /// A generator that brings none of these finds nothing.
    fileprivate var mustHappen: [String] {
        let everywhere = [
            "buy", "renews", "cardFails", "cardMended", "cancel", "runs out", "refund",
            "resubscribe", "upgrade", "grace", "down", "submitted again", "heard trouble",
        ]
        return switch self {
        case .apple, .receipts:
            everywhere + [
                "hold", "change", "refundPast", "extend", "askPrice", "heard what was",
            ]
        case .googleV2, .googleV1:
            everywhere + ["hold", "pause", "pauses", "refundPast", "extend", "askPrice"]
        case .amazon: everywhere + ["change", "ends unpaid"]
        case .appleProducts: ["buy", "refund"]
        case .googleProducts, .googleProductsV1: ["buy", "pay", "refund", "heard trouble"]
        case .amazonProducts: ["buy", "refund", "heard trouble"]
        }
    }
}
