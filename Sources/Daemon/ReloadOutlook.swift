import Engine
import Ledger
import Logging
import Renewal

/// Says after a reload what the new products or policy would change of purchases that nobody asks
/// about soon. It works beside the daemon, over connections of its own, and delays nothing.
final class ReloadOutlook: Sendable {
    private let services: Services
    private let rules: AsyncStream<Rules>
    private let turn: AsyncStream<Rules>.Continuation

    init(_ services: Services) {
        self.services = services
        // Of several reloads the last one counts.
        (rules, turn) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    func look(at rules: Rules) { turn.yield(rules) }

    /// Until it is cancelled.
    func run() async {
        for await rules in rules { await tell(of: rules) }
    }

    private func tell(of rules: Rules) async {
        let ledger = services.ledgerApart()
        do throws(LedgerError) {
            let difference = try await WhatIf(ledger, under: rules).run()
            if !Task.isCancelled { say(difference) }
        } catch {
            services.log.debug(.reloadOutlookFailed(error))
        }
        await ledger.close()
    }

    private func say(_ difference: Difference) {
        guard difference.changed > 0 else {
            services.log.info(.reloadChangesNothing)
            return
        }
        services.log.notice(.reloadOutlook(difference), metadata: LogField.topic(.reloadOutlook))
    }
}
