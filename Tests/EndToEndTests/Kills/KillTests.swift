import Foundation
import TestSupport
import Testing

/// `make crash`: programs and the server are killed at random instants, a thousand times; every
/// event is there once, every answer was given once, no news is lost.
///
/// `RENEWALD_KILLS` says how many; a few without. The seed is printed; `RENEWALD_SEED` gives one.
@Suite(.serialized)
struct KillTests {
    private static let few = 6
    /// Then the stage is a new one, with the next seed: a short story is easier to repeat.
    private static let killsOfAChapter = 40

    @Test func everyEventIsThereOnceWhateverWasKilled() async throws {
        let environment = ProcessInfo.processInfo.environment
        let wanted = environment["RENEWALD_KILLS"].flatMap { Int($0) } ?? Self.few
        let first = Seeds.fresh()
        print("crash: \(wanted) kills, seed \(first)")
        var total = KillTally()
        var chapter: UInt64 = 0
        while total.kills < wanted {
            let seed = first &+ chapter
            let kills = min(Self.killsOfAChapter, wanted - total.kills)
            do {
                let found = try await KillRun.play(seed: seed, kills: kills)
                total += found
                print("crash: seed \(seed): \(found); \(total.kills) of \(wanted)")
                for fault in found.faults { print("crash: seed \(seed): \(fault)") }
            } catch {
                throw StageFailure(
                    "\(error)\nRepeat with RENEWALD_SEED=\(seed) N=\(kills) make crash")
            }
            chapter += 1
        }
        print(total)
        #expect(total.faults.isEmpty)
    }
}
