import Foundation
import TestSupport
import Testing

/// Mutated answers of all stores: an error or an observation, never a crash, never a hang, never a
/// verdict that nobody has signed.
///
/// `RENEWALD_FUZZ=100000` feeds that many, with a seed that is printed; `RENEWALD_SEED` repeats it,
/// and `RENEWALD_FUZZ_ONLY=verifyReceipt` does so for the decoders with this in their name.
@Suite struct FuzzTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let wanted = environment["RENEWALD_FUZZ"].flatMap { Int($0) }
    private static let usualSeed: UInt64 = 20_260_320
    private static let usualCount = 4700

    @Test(.timeLimit(.minutes(wanted == nil ? 10 : 120)))
    func survivesMutatedAnswers() async throws {
        let seed = Self.wanted == nil ? Self.usualSeed : Seeds.fresh()
        let all = try await FuzzTargets.all()
        let count = ((Self.wanted ?? Self.usualCount) + all.count - 1) / all.count
        let targets = all.filter { target in
            Self.environment["RENEWALD_FUZZ_ONLY"].map { target.name.contains($0) } ?? true
        }
        let clock = ContinuousClock()
        let start = clock.now
        var total = 0
        for target in targets {
            // Before it: after a crash this line says which decoder it was, and the seed.
            try Self.tell("\(target.name), \(count) inputs, seed \(seed)")
            let begin = clock.now
            let used = try await Self.run(target, count: count, seed: seed)
            total += count
            let seconds = (clock.now - begin).components.seconds
            try Self.tell("\(target.name), \(used) of \(count) could be used, \(seconds) s")
            #expect(used < count, "\(target.name) takes everything for good")
        }
        let seconds = (clock.now - start).components.seconds
        try Self.tell("\(total) inputs for \(targets.count) decoders, \(seconds) s, crashes 0")
    }

    /// At once, not when a buffer is full: a crash may come next.
    private static func tell(_ text: String) throws {
        try FileHandle.standardOutput.write(contentsOf: Data("fuzz: \(text)\n".utf8))
    }

    /// - Returns: how many inputs came to something, so that it is known that the decoder is reached.
    private static func run(_ target: FuzzTarget, count: Int, seed: UInt64) async throws -> Int {
        var mutator = Mutator(target.seeds, with: SeededGenerator(seed: seed))
        var used = 0
        for number in 0..<count {
            let (input, original) = mutator.next()
            do {
                if try await target.feed(input, original) { used += 1 }
            } catch {
                Issue.record("\(target.name), seed \(seed), input \(number): \(error)")
            }
        }
        return used
    }
}
