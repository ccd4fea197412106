import Foundation
import TestSupport
import Testing

/// `make partitions`: two workers on machines of their own lose the database, the stores or both,
/// under load; every event is there once.
///
/// `RENEWALD_CUTS` says how often each kind of cut is made. The test has to have a network of its own
/// and to be root. `RENEWALD_SEED` gives a seed.
@Suite(.serialized, .enabled(if: ProcessInfo.processInfo.environment["RENEWALD_CUTS"] != nil))
struct CutTests {
    private static let rounds =
        ProcessInfo.processInfo.environment["RENEWALD_CUTS"].flatMap { Int($0) }

    @Test func everyEventIsThereOnceWhoeverWasCutOff() async throws {
        let rounds = try #require(Self.rounds)
        let seed = Seeds.fresh()
        print("partitions: \(rounds) of each kind, seed \(seed)")
        try await Machine.outside("ip link set lo up")
        let (found, longest) = try await CutRun.play(seed: seed, rounds: rounds)
        for fault in found.faults { print("partitions: \(fault)") }
        print(
            "cuts \(rounds * 9), lost \(found.lost), doubled \(found.doubled), "
                + "longest pause \(Poll.text(longest)) s")
        #expect(found.faults.isEmpty)
    }
}
