package import Renewal

/// Where places in the rows of calls are asked for, for all apps: what is asked for while one
/// transaction is under way goes into the next, all together. So a thousand apps that call at once
/// wait for a transaction or two, and not for a thousand.
package actor CallReservations {
    /// What the database has said, and when: the wait was counted from a time in between.
    package struct Reply: Sendable {
        package let reservation: Reservation
        package let sent: ContinuousClock.Instant
        package let answered: ContinuousClock.Instant
    }

    private enum Turn: Sendable {
        case answered(Result<Reply, LedgerError>)
        /// The one before has ended its transaction: the next one is ours.
        case leads
    }

    private struct Asked {
        let number: Int
        let request: CallRequest
        let sendsAt: ContinuousClock.Instant
        /// Nil for the one that leads.
        var waits: CheckedContinuation<Turn, Never>?
    }

    private let ledger: any EngineLedger
    /// In the order in which they came. The first leads, while anybody does.
    private var asked: [Asked] = []
    private var isLed = false
    private var count = 0
    private let comesEarlier = AsyncEvent()
    /// When each bucket was last asked for.
    private var servedAt: [BucketID: ContinuousClock.Instant] = [:]

    /// Those that are in no transaction yet.
    var waiting: Int { asked.count }

    /// How long a call that has time may wait for others to go with.
    private let patience: Duration
    /// Calls of a bucket that come sooner after one another are a series.
    private static let pause = Duration.seconds(4)
    /// Rows of one transaction.
    private static let limit = 500

    /// - Parameters:
    ///   - ledger: which has the rows.
    ///   - patience: how long a call that has time may wait for others to go with.
    package init(_ ledger: any EngineLedger, patience: Duration) {
        self.ledger = ledger
        self.patience = patience
    }

    /// Asks for a stretch of a row.
    ///
    /// - Parameters:
    ///   - request: of which bucket, how long, from when at the latest.
    ///   - hasTime: whether it may wait a moment for others to go with; in the middle of a series
    ///     of calls nothing waits.
    /// - Returns: what the database has said.
    /// - Throws: what went wrong with the database; `.cancelled` with the task.
    package func reserve(
        _ request: CallRequest, hasTime: Bool = false
    ) async throws(LedgerError) -> Reply {
        count += 1
        let number = count
        let isSeries = servedAt[request.bucket].map { .now - $0 < Self.pause } ?? false
        let now = ContinuousClock.now
        let one = Asked(
            number: number, request: request,
            sendsAt: hasTime && !isSeries ? now + patience : now)
        if isLed {
            comesEarlier.signal()
            let turn = await withCheckedContinuation { waits in
                var one = one
                one.waits = waits
                asked.append(one)
            }
            if case .answered(let result) = turn { return try result.get() }
        } else {
            isLed = true
            asked.append(one)
        }
        return try await lead(number).get()
    }

    /// Gives back the end of a stretch (`GiveBackCalls.swift`), while no other follows it.
    func giveBack(_ unused: UnusedCalls) async throws(LedgerError) {
        try await ledger.giveBackCalls(unused)
    }

    /// Sends one transaction, our own request in it, and lets the next lead.
    private func lead(_ number: Int) async -> Result<Reply, LedgerError> {
        defer { handOver() }
        while !Task.isCancelled, let sendsAt = asked.map(\.sendsAt).min(), sendsAt > .now {
            await comesEarlier.wait(upTo: sendsAt - .now)
        }
        guard !Task.isCancelled else {
            asked.removeAll { $0.number == number }
            return .failure(.cancelled)
        }
        let batch = takeBatch()
        let sent = ContinuousClock.now
        var replies: [Result<Reply, LedgerError>]
        do throws(LedgerError) {
            let reservations = try await ledger.reserveCalls(batch.map(\.request))
            let answered = ContinuousClock.now
            replies = reservations.map {
                .success(Reply(reservation: $0, sent: sent, answered: answered))
            }
            for one in batch { servedAt[one.request.bucket] = answered }
        } catch {
            replies = batch.map { _ in .failure(error) }
        }
        return tell(replies, to: batch, leader: number)
    }

    /// Of each bucket one request, in the order in which they came; whoever leads is the first.
    private func takeBatch() -> [Asked] {
        var batch: [Asked] = []
        var buckets: Set<BucketID> = []
        asked.removeAll { one in
            guard batch.count < Self.limit, buckets.insert(one.request.bucket).inserted else {
                return false
            }
            batch.append(one)
            return true
        }
        return batch
    }

    private func tell(
        _ replies: [Result<Reply, LedgerError>], to batch: [Asked], leader: Int
    ) -> Result<Reply, LedgerError> {
        var own: Result<Reply, LedgerError> = .failure(.cancelled)
        var unserved: [Asked] = []
        for (one, reply) in zip(batch, replies) {
            if one.number == leader {
                own = reply
            } else if case .failure(.cancelled) = reply {
                // It was the leader's task that was cancelled, not theirs.
                unserved.append(one)
            } else {
                one.waits?.resume(returning: .answered(reply))
            }
        }
        asked.insert(contentsOf: unserved, at: 0)
        return own
    }

    private func handOver() {
        isLed = !asked.isEmpty
        guard isLed else { return }
        let next = asked[0].waits.take()
        next?.resume(returning: .leads)
    }
}
