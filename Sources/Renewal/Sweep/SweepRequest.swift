/// Asks for the next step of a sweep: what to make due, with calls that nothing due needs.
package struct SweepRequest: Hashable, Sendable {
    package var lane: Lane
    /// Where to go on in each of some shards.
    package var places: [Place]
    /// Most purchases of one shard to look at.
    package var perShard: Int
    /// Most to make due.
    package var limit: Int
    /// How long a walk through all purchases takes.
    package var interval: Duration
    /// How long it has been on its way through all purchases: what was asked about since is past.
    package var walked: Duration
    /// Where news of the app comes from, and what it tells of. One that has not been read for an
    /// hour counts as none.
    package var sources: [SourceID: NewsScope]
    /// Nothing is made due while something has been due for longer.
    package var patience: Duration

    package init(
        _ lane: Lane, _ step: SweepWalk.Step, sources: [SourceID: NewsScope], patience: Duration
    ) {
        self.lane = lane
        places = step.places
        perShard = step.perShard
        limit = step.limit
        interval = step.interval
        walked = step.walked
        self.sources = sources
        self.patience = patience
    }
}

/// What became of a step of a sweep.
package enum SweepStep: Hashable, Sendable {
    /// So many were made due; the shards were looked through up to these places, and some of them
    /// to their ends.
    case swept(Int, reached: [Place], ended: Set<Int16>)
    /// The calls are needed for what is due, or for a back-fill.
    case behind
}

/// What is made due of the purchases that a step has looked at.
package struct SweepChoice: Hashable, Sendable {
    package private(set) var chosen: [Place] = []
    package private(set) var reached: [Place] = []
    package private(set) var ended: Set<Int16> = []

    /// - Parameters:
    ///   - rows: of the shards of the request, in the order of the schedule in each; no more of one
    ///     than it asks for.
    ///   - request: for which it is chosen.
    ///   - heard: the sources of the request that are read.
    ///   - now: the database's time.
    package init(
        of rows: [SweepRow], for request: SweepRequest, heard: [SourceID], at now: Timestamp
    ) {
        let news = heard.compactMap { request.sources[$0] }.max()
        let ofShard = Dictionary(grouping: rows, by: \.place.shard)
        for place in request.places {
            var reached = place
            let rows = ofShard[place.shard] ?? []
            for row in rows {
                if request.wants(row, news, at: now) {
                    guard chosen.count < request.limit else { break }
                    chosen.append(row.place)
                }
                reached = row.place
            }
            if reached == rows.last?.place ?? place, rows.count < request.perShard {
                ended.insert(place.shard)
            } else {
                self.reached.append(reached)
            }
        }
    }
}

extension SweepRequest {
    /// Whether its turn has come: it is worth a call, was not asked about for as long as its weight
    /// says, and will not be asked about soon in any case.
    fileprivate func wants(_ row: SweepRow, _ news: NewsScope?, at now: Timestamp) -> Bool {
        if row.wasAskedInTheFuture(of: now) { return row.place.dueAt - now >= .minutes(1) }
        guard let checkedAt = row.checkedAt, let weight = row.weight(at: now, news: news) else {
            return false
        }
        let turn = weight.turn(every: interval)
        return now - checkedAt >= max(turn, walked) && row.place.dueAt - now >= turn / 4
    }
}
