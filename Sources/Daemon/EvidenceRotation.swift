import Configuration
import Ledger
import Logging
import Renewal

/// Makes room for the evidence of the coming months and lets go of what is too old.
package struct EvidenceRotation: Sendable {
    private let ledger: PostgresLedger
    private let keep: Duration
    private let log: Logger

    private static let pause = Duration.seconds(3600)

    package init(_ services: Services) {
        ledger = services.ledger
        keep = services.configuration.evidence.keep
        log = services.log
    }

    /// Once now, and then every hour until it is cancelled.
    func run() async {
        while !Task.isCancelled {
            await rotate()
            try? await Task.sleep(for: Self.pause)
        }
    }

    /// Nothing depends on it soon: evidence of a month that is not made finds its place all the
    /// same. So a fault is told to those who look for it, and the next time comes.
    package func rotate() async {
        do {
            let dropped = try await ledger.rotateEvidence(keep: keep)
            if dropped > 0 { log.info(.evidenceDropped(months: dropped)) }
        } catch {
            log.debug(.evidenceNotRotated(error))
        }
    }
}
