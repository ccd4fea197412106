import Foundation
import TestSupport
import Testing

/// `make failover`: PostgreSQL under Patroni loses its leader again and again, under load; every
/// event is there once.
///
/// `RENEWALD_LOSSES` says how often, and `RENEWALD_MACHINES` in which folder; both come from
/// `scripts/failover`, which gives the test a network of its own. `RENEWALD_SEED` gives a seed.
@Suite(.serialized, .enabled(if: PatroniCluster.isAskedFor))
struct LossTests {
    private static let environment = ProcessInfo.processInfo.environment

    @Test func everyEventIsThereOnceWhateverLeaderWasLost() async throws {
        let losses = try #require(Self.environment["RENEWALD_LOSSES"].flatMap { Int($0) })
        let folder = try #require(Self.environment["RENEWALD_MACHINES"])
        let seed = Seeds.fresh()
        print("failover: \(losses) losses, seed \(seed)")
        let (found, longest) = try await LossRun.play(seed: seed, losses: losses, in: folder)
        for fault in found.faults { print("failover: \(fault)") }
        print(
            "losses \(losses), lost \(found.lost), doubled \(found.doubled), "
                + "longest pause \(Poll.text(longest)) s")
        #expect(found.faults.isEmpty)
    }
}
