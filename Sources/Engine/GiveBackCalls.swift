import Logging
import Renewal

// What a stop leaves of the calls that a queue has reserved goes back into the row that all workers
// share: others need not wait for places that nobody will use. `QueueMachine` says what is left,
// `CallReservations` hands it on, `give_back_calls.sql` moves the row. A worker that is killed
// gives nothing back; its stretch runs out.

extension QueueMachine {
    /// What is left of the stretch that was reserved last; only after a stop, and once.
    mutating func callsToGiveBack(at now: Instant, of app: AppKey) -> UnusedCalls? {
        guard isStopping, let end = reservedUntil.take(),
            let stretch = permits?.giveBack(at: now), stretch > .zero
        else { return nil }
        return UnusedCalls(stretch, of: BucketID(of: app), reservedUntil: end)
    }
}

extension QueueWork {
    func giveBack(_ unused: UnusedCalls) async {
        do {
            try await context.reservations.giveBack(unused)
        } catch {
            context.log.debug(.cannotGiveBackCalls(lane, error))
        }
    }
}
