import Engine
import Ledger
import Logging
import Renewal

/// Says after a reload, and after a start with products or a policy that nothing was decided by
/// yet, what they would change of purchases that nobody asks about soon. It works beside the
/// daemon, over connections of its own, and delays nothing.
final class RulesOutlook: Sendable {
    private let services: Services
    private let began = ContinuousClock.now
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
        await tell(ofNewRules: services.configuration.rules)
        for await rules in rules { await tell(of: rules) }
    }

    private func tell(ofNewRules rules: Rules) async {
        var isDone = false
        while !isDone {
            isDone = await look { ledger throws(LedgerError) in
                guard try await ledger.areNew(rules, since: .now - self.began) else { return }
                let difference = try await WhatIf(ledger, under: rules).run()
                if !Task.isCancelled, difference.changed > 0 { self.say(difference) }
            }
            // The database may come later.
            if !isDone { isDone = (try? await Task.sleep(for: Self.rest)) == nil }
        }
    }

    private static let rest = Duration.seconds(5)

    private func tell(of rules: Rules) async {
        await look { ledger throws(LedgerError) in
            let difference = try await WhatIf(ledger, under: rules).run()
            guard !Task.isCancelled else { return }
            if difference.changed > 0 {
                self.say(difference)
            } else {
                self.services.log.info(.reloadChangesNothing)
            }
        }
    }

    /// - Returns: false where the database is not available.
    @discardableResult private func look(
        _ body: (PostgresLedger) async throws(LedgerError) -> Void
    ) async -> Bool {
        let ledger = services.ledgerApart()
        var isAvailable = true
        do throws(LedgerError) {
            try await body(ledger)
        } catch {
            if case .unavailable = error { isAvailable = false }
            services.log.debug(.reloadOutlookFailed(error))
        }
        await ledger.close()
        return isAvailable
    }

    private func say(_ difference: Difference) {
        services.log.notice(.reloadOutlook(difference), metadata: LogField.topic(.reloadOutlook))
    }
}
