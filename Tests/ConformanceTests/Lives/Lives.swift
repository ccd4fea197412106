import Foundation
import Renewal
import TestSupport

/// Many lives, and what they came to.
struct Lives {
    private(set) var counts: [Realm: [String: Int]] = [:]
    private(set) var lives = 0
    private(set) var checks = 0
    private(set) var steps = 0
    /// How often each rule was broken.
    private(set) var failures: [String: Int] = [:]
    private var scenes: [Realm: any StoreScene] = [:]

    /// Lives a life; a failure is made short first.
    ///
    /// - Throws: `Failure`, with what repeats it.
    mutating func live(_ seed: UInt64, in realm: Realm) async throws {
        let scene = try scenes[realm] ?? Self.scene(of: realm)
        scenes[realm] = scene
        var run = LifeRun(Life(seed, in: realm), on: scene)
        defer {
            lives += 1
            checks += run.checks
            steps += run.steps
            counts[realm, default: [:]].merge(run.counts) { $0 + $1 }
        }
        do {
            try await run.play()
        } catch let broken as Broken {
            failures["\(realm.rawValue): \(broken.rule)", default: 0] += 1
            // One of a kind is enough to read.
            guard failures["\(realm.rawValue): \(broken.rule)"] == 1 else { return }
            throw try await Failure(Life(seed, in: realm), broken, on: scene)
        }
    }

    static func scene(of realm: Realm) throws -> any StoreScene {
        switch realm {
        case .apple, .appleProducts: try AppleScene(Words(""))
        case .receipts: try AppleScene(Words("no_key"))
        case .googleV2, .googleProducts: try GoogleScene(Words(""))
        case .googleV1, .googleProductsV1: try GoogleScene(Words("v1"))
        case .amazon, .amazonProducts: try AmazonScene(Words(""))
        }
    }

    /// A life that came to something untrue, made as short as it still does.
    struct Failure: Error, CustomStringConvertible {
        let realm: Realm
        let seed: UInt64
        let rule: String
        let detail: String
        let steps: [Life.Step]
        let story: [String]

        init(_ life: Life, _ broken: Broken, on scene: any StoreScene) async throws {
            var short = life
            var last = broken
            var runs = 0
            var size = max(life.steps.count / 2, 1)
            while size >= 1, runs < Self.runLimit {
                var place = 0
                var hasShrunk = false
                while place < short.steps.count, runs < Self.runLimit {
                    runs += 1
                    let rest = Self.without(place..<min(place + size, short.steps.count), short)
                    if let found = try await Self.outcome(of: rest, on: scene),
                        found.rule == broken.rule
                    {
                        (short, last, hasShrunk) = (rest, found, true)
                    } else {
                        place += size
                    }
                }
                if !hasShrunk || size > 1 { size /= 2 }
            }
            realm = life.realm
            seed = life.seed
            rule = broken.rule
            detail = last.detail
            steps = short.steps
            var run = LifeRun(short, on: scene, tellsStory: true)
            do { try await run.play() } catch is Broken {}
            story = Self.shortened(run.story)
        }

        /// What was heard and told nothing is left out, but for the last of it.
        private static func shortened(_ story: [String]) -> [String] {
            story.enumerated().filter { index, line in
                index + 12 > story.count || !line.contains("  -> ") || !line.contains("  -  ")
            }.map(\.element)
        }

        /// The time that passed with them still passes.
        private static func without(_ range: Range<Int>, _ life: Life) -> Life {
            var life = life
            let lost = life.steps[range].reduce(Duration.zero) { $0 + $1.after }
            life.steps.removeSubrange(range)
            if range.lowerBound < life.steps.count {
                let next = life.steps[range.lowerBound]
                life.steps[range.lowerBound] = Life.Step(
                    after: next.after + lost, what: next.what, hint: next.hint)
            }
            return life
        }

        private static func outcome(
            of life: Life, on scene: any StoreScene
        ) async throws -> Broken? {
            var run = LifeRun(life, on: scene)
            do {
                try await run.play()
                return nil
            } catch let broken as Broken {
                return broken
            }
        }

        private static let runLimit = 150

        var description: String {
            let lines =
                ["\(rule)", detail, "RENEWALD_SEED=\(seed) RENEWALD_LIFE='\(realm.rawValue)'"]
                + steps.map { "  " + $0.description } + ["came to"] + story.map { "  " + $0 }
            return lines.joined(separator: "\n")
        }
    }
}
