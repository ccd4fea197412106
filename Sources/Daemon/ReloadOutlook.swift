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
            services.log.debug("cannot tell what the reload would change: \(error.sentence)")
        }
        await ledger.close()
    }

    private func say(_ difference: Difference) {
        guard difference.changed > 0 else {
            services.log.info("the new products and policy change no purchase")
            return
        }
        let (gain, lose) = (
            difference.gain.values.reduce(0, +), difference.lose.values.reduce(0, +)
        )
        services.log.notice(
            """
            the new products or policy would change \(difference.changed) of \
            \(difference.purchases) purchases, \(gain) entitlements gained and \(lose) lost, each \
            at its next check; "renewald apply" changes them now
            """, metadata: LogField.topic(.reloadOutlook))
    }
}
