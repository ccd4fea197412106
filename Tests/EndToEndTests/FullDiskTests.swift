import Foundation
import Postgres
import TestSupport
import Testing

/// A database without room stops the work, not the daemon; nothing is lost.
@Suite(.serialized, .enabled(if: SmallDisk.isPossible))
struct FullDiskTests {
    @Test func theWorkGoesOnWhenThereIsRoomAgain() async throws {
        let cluster = try await ScratchCluster(.init(smallDisk: .data))
        try await onStage(database: try await cluster.newDatabase()) { stage in
            try stage.configure("[engine]\nin_flight = 50", rate: 100_000)
            try await stage.control("latency", #"{"milliseconds":5}"#)
            let made = try await stage.buy("google", count: 2000)
            try await stage.submit(made, "google") { "u-\($0)" }
            let daemon = try stage.daemon()
            try await stage.wait { try await stage.events() > 100 }
            try cluster.fillDisk()
            let line = try await daemon.line { $0.contains("disk is full (SQLSTATE 53100)") }
            #expect(line.contains(" warn commit waits for the database: "))
            try await stage.expectConsistent()
            #expect(try await stage.renewald("status").exit == .code(0))
            cluster.freeDisk()
            _ = try await daemon.line { $0.contains("database reachable again; nothing was lost") }
            try await stage.expectGrants(2000)
            #expect(try await stage.questions() == 2000, "no answer was thrown away")
            daemon.send(SIGTERM)
            #expect(try await daemon.exit() == .code(0))
            #expect(daemon.lines.count { $0.contains("53100") } <= 3)
        }
    }

    @Test func onePassWaitsForRoomAndEndsWithAllOfIt() async throws {
        let cluster = try await ScratchCluster(.init(smallDisk: .data))
        try await onStage(database: try await cluster.newDatabase()) { stage in
            try stage.configure("[engine]\nin_flight = 50", rate: 100_000)
            try await stage.control("latency", #"{"milliseconds":5}"#)
            let made = try await stage.buy("google", count: 1000)
            try await stage.submit(made, "google") { "u-\($0)" }
            let pass = try stage.start(["once"])
            try await stage.wait { try await stage.events() > 100 }
            try cluster.fillDisk()
            _ = try await pass.line { $0.contains("disk is full (SQLSTATE 53100)") }
            cluster.freeDisk()
            #expect(try await pass.exit(within: .seconds(60)) == .code(0))
            #expect(pass.standardOutput.contains("1000 purchases checked, 1000 events written."))
            try await stage.expectGrants(1000)
        }
    }

    @Test func onePassThatGetsNoRoomAgainEndsAndSaysSo() async throws {
        let cluster = try await ScratchCluster(.init(smallDisk: .data))
        try await onStage(database: try await cluster.newDatabase()) { stage in
            try stage.configure("[engine]\nin_flight = 50\nlease = \"PT15S\"", rate: 100_000)
            try await stage.control("latency", #"{"milliseconds":5}"#)
            let made = try await stage.buy("google", count: 2000)
            try await stage.submit(made, "google") { "u-\($0)" }
            let pass = try stage.start(["once"])
            try await stage.wait { try await stage.events() > 100 }
            try cluster.fillDisk()
            #expect(try await pass.exit(within: .seconds(120)) == .code(69))
            #expect(pass.standardError.contains("renewald: the database"))
            cluster.freeDisk()
            try await stage.wait { try await stage.renewald("once").exit == .code(0) }
            try await stage.expectGrants(2000)
        }
    }

    @Test func onePassThatFindsNoRoomSaysSo() async throws {
        let cluster = try await ScratchCluster(.init(smallDisk: .data))
        try await onStage(database: try await cluster.newDatabase()) { stage in
            try await stage.submit(try await stage.buy("google"), "google") { _ in "ann" }
            try cluster.fillDisk()
            let pass = try await stage.renewald("once")
            #expect(pass.exit == .code(69))
            #expect(pass.standardError.contains("its disk is full (SQLSTATE 53100)"))
            #expect(try await stage.questions() == 0)
        }
    }

    /// A server that cannot write its log ends at once, and perhaps cannot even recover.
    @Test func aServerThatPanicsForWantOfRoomIsOutlived() async throws {
        let cluster = try await ScratchCluster(
            .init(settings: ["min_wal_size": "2MB", "max_wal_size": "4MB"], smallDisk: .log))
        try await onStage(database: try await cluster.newDatabase()) { stage in
            try stage.configure("[engine]\nin_flight = 50", rate: 100_000)
            try await stage.control("latency", #"{"milliseconds":5}"#)
            let made = try await stage.buy("google", count: 3000)
            try await stage.submit(made, "google") { "u-\($0)" }
            // What is usually at fault: a replica that was forgotten.
            try await stage.script("SELECT pg_create_physical_replication_slot('stale', true)")
            let daemon = try stage.daemon()
            try await stage.wait { try await stage.events() > 100 }
            try cluster.fillDisk()
            _ = try await daemon.line { $0.contains("the database is not available") }
            cluster.freeDisk()
            // It may be recovering, again and again, or have given up.
            try? await cluster.stop(.immediate)
            try await cluster.start()
            try await stage.expectGrants(3000)
            #expect(cluster.log.contains("No space left on device"))
            #expect(cluster.log.contains("PANIC"))
            daemon.send(SIGTERM)
            #expect(try await daemon.exit() == .code(0))
        }
    }
}
