import Logging
import Renewal
import Synchronization
import TestSupport
import Testing

@testable import Engine

/// Whether it is told that what is due cannot be read.
@Suite struct StalledReadsTests {
    private static let start = ContinuousClock.now
    private static let lock = LedgerError.unavailable(reason: "another session holds a lock")

    @Test func isToldOnceAfterAWhileAndOnceWhenItIsOver() {
        let log = RecordedLog()
        let reads = StalledReads(mode: .forever, log: log.logger)
        for second in 0..<60 {
            for part in [StandingFaults.Part.look, .queue(1), .queue(2)] {
                reads.failed(Self.lock, by: part, at: Self.start + .seconds(second))
            }
            #expect(log.lines.count == (second < 15 ? 0 : 1))
        }
        #expect(log.lines.last?.contains("another session holds a lock") == true)
        reads.ended(.look)
        reads.ended(.queue(1))
        #expect(log.lines.count == 1)
        reads.ended(.queue(2))
        #expect(log.lines.last == "what is due can be checked again")
        #expect(log.lines.count == 2)
    }

    /// What is not read any more, as an app was taken out, keeps no other trouble from being told.
    @Test func isOverWithTheQueueThatWasTakenOut() {
        let log = RecordedLog()
        let faults = StandingFaults(mode: .forever, log: log.logger)
        for second in [0, 60] {
            faults.reads.failed(Self.lock, by: .queue(3), at: Self.start + .seconds(second))
        }
        #expect(log.lines.count == 1)
        faults.forget(.queue(3))
        #expect(log.lines.last == "what is due can be checked again")
    }

    /// Then it is the leases that cannot be kept, which has been told.
    @Test func isNotToldWhereTheDatabaseIsNotThere() {
        let log = RecordedLog()
        let reads = StalledReads(mode: .forever, log: log.logger)
        reads.areOfAll(true)
        for second in 0..<60 {
            reads.failed(Self.lock, by: .look, at: Self.start + .seconds(second))
        }
        reads.ended(.look)
        #expect(log.lines.isEmpty)
    }

    @Test func onePassEndsWithIt() {
        let faults = StandingFaults(mode: .onePass(limit: nil), log: RecordedLog().logger)
        #expect(!faults.met(Self.lock, by: .queue(7)))
        #expect(faults.any == Self.lock)
        faults.ended(.queue(7))
        #expect(faults.any == nil)
        faults.met(.cancelled, by: .queue(7))
        faults.met(Self.lock, by: .hints)
        #expect(faults.any == nil)
    }
}

/// What is logged at the usual level.
private final class RecordedLog: Sendable {
    private let told = Mutex<[String]>([])

    var lines: [String] { told.withLock(\.self) }

    var logger: Logger {
        Logger(label: "renewald") { _ in Handler(log: self) }
    }

    private struct Handler: LogHandler {
        let log: RecordedLog
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.info

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) { log.told.withLock { $0.append(event.message.description) } }
    }
}
