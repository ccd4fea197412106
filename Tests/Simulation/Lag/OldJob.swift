import Renewal

/// What people have before renewald: every so often a job asks about all purchases that it takes for
/// alive, one after the other. It believes each answer, and its backend asks once when an app hands
/// something in.
struct OldJob {
    let interval: Duration
    /// Most questions of one run; nil is all.
    var limit: Int?
    /// Those with the latest end first: what a budget makes of `ORDER BY ends_at DESC`.
    var latestEndFirst = false

    /// From one question to the next.
    private static let pace = Duration.milliseconds(100)
    /// What has ended may come back: it is asked about for so long.
    private static let watched = Duration.days(30)

    func beliefs(about customers: [Customer], until end: Timestamp) -> Beliefs {
        var beliefs = Beliefs()
        let sold = Dictionary(
            customers.flatMap(\.subscriptions).map { ($0.token, $0) }, uniquingKeysWith: { $1 })
        var submissions = customers.flatMap(\.submissions).sorted {
            ($1.at, $1.token) < ($0.at, $0.token)
        }
        var known: [StoreToken] = []
        var run = World.start + .hours(3)
        while run < end {
            while let next = submissions.last, next.at <= run {
                submissions.removeLast()
                guard let one = sold[next.token], beliefs.last(of: next.token) == nil else {
                    continue
                }
                known.append(next.token)
                ask(about: one, at: next.at, &beliefs)
            }
            for (number, token) in chosen(known, beliefs, at: run).enumerated() {
                guard let one = sold[token] else { continue }
                ask(about: one, at: run + Self.pace * number, &beliefs)
            }
            run = run + interval
        }
        return beliefs
    }

    private func chosen(
        _ known: [StoreToken], _ beliefs: Beliefs, at now: Timestamp
    ) -> [StoreToken] {
        let alive = known.compactMap { token -> (token: StoreToken, end: Timestamp)? in
            guard let last = beliefs.last(of: token) else { return nil }
            let end = last.paidThrough ?? now
            return last.isGranted || now - max(end, last.at) < Self.watched ? (token, end) : nil
        }
        let ordered =
            latestEndFirst ? alive.sorted { ($1.end, $1.token) < ($0.end, $0.token) } : alive
        return ordered.prefix(limit ?? .max).map(\.token)
    }

    private func ask(about one: Subscription, at time: Timestamp, _ beliefs: inout Beliefs) {
        beliefs.asked(at: time)
        guard let state = one.state(at: time) else { return }
        let belief = Beliefs.Belief(
            at: time, isGranted: state.standing.grants, paidThrough: state.end)
        let last = beliefs.last(of: one.token)
        guard last?.isGranted != belief.isGranted || last?.paidThrough != belief.paidThrough
        else { return }
        beliefs.note(belief, of: one.token)
    }
}
