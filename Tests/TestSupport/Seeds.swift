import Foundation

/// SplitMix64: the same seed gives the same numbers on every machine.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) {
        state = seed
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

/// Random runs that one number repeats.
package enum Seeds {
    /// What a seeded run threw, with the seed that repeats it.
    package struct Failure: Error, CustomStringConvertible {
        package let seed: UInt64
        package let reason: String
        package var description: String { "with seed \(seed): \(reason)" }
    }

    /// A seed from the clock, or `RENEWALD_SEED` of the environment.
    package static func fresh() -> UInt64 {
        let chosen = ProcessInfo.processInfo.environment["RENEWALD_SEED"].flatMap { UInt64($0) }
        return chosen ?? UInt64.random(in: 0 ... .max)
    }

    /// Runs `body` with a generator; prints the seed when it throws.
    package static func run<Value>(
        seed: UInt64 = fresh(), _ body: (inout SeededGenerator) async throws -> Value
    ) async throws -> Value {
        var generator = SeededGenerator(seed: seed)
        do {
            return try await body(&generator)
        } catch {
            print("failed with seed \(seed)")
            throw Failure(seed: seed, reason: String(describing: error))
        }
    }
}
