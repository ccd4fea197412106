/// How many calls a store takes from one app in any span of time.
struct Quota: Hashable, Sendable {
    var store: StoreName
    /// Nil for each app on its own.
    var app: String?
    /// Nil for all calls together, but those of the token endpoint.
    var endpoint: Endpoint?
    var calls: Int
    var windowMilliseconds: Int64

    static let callLimit = 1_000_000

    /// Spans of an hour and more go by the simulated clock, shorter ones by the machine's: a
    /// client paces itself by the machine's, and waits for the simulated one.
    var isSimulated: Bool { windowMilliseconds >= Instant.hour }

    /// Reads `apple=50/PT1S` or `google=3000/PT1M`.
    init?(text: String) {
        let sides = text.split(separator: "=", maxSplits: 1)
        guard sides.count == 2, let store = StoreName(rawValue: String(sides[0])) else {
            return nil
        }
        let parts = sides[1].split(separator: "/", maxSplits: 1)
        guard parts.count == 2, let calls = Int(parts[0]) else { return nil }
        self.init(store: store, calls: calls, per: Period(text: String(parts[1])))
    }

    /// Nil when the number or the span makes no sense. A month is thirty days.
    init?(store: StoreName, calls: Int, per period: Period?) {
        guard let period, (1...Self.callLimit).contains(calls) else { return nil }
        let span = period.months * 30 * Instant.day + period.milliseconds
        guard span >= 1 else { return nil }
        self.store = store
        self.calls = calls
        windowMilliseconds = span
    }
}

/// The quotas in force and what was used of them.
struct QuotaBook: Sendable {
    struct Entry: Sendable {
        var id: Int
        var quota: Quota
        var refused = 0
        /// The times of the last calls of each app, as a ring.
        fileprivate var rings: [String: Ring] = [:]
    }

    fileprivate struct Ring: Sendable {
        var times: [Int64] = []
        var oldest = 0
    }

    private(set) var entries: [Entry] = []
    private var lastID = 0

    var isEmpty: Bool { entries.isEmpty }

    mutating func add(_ quota: Quota) -> Int {
        lastID += 1
        entries.append(Entry(id: lastID, quota: quota))
        return lastID
    }

    mutating func removeAll() { entries = [] }

    /// Counts a call; when that is one too many, the quota and how long to wait.
    mutating func take(
        _ store: StoreName, app: String, endpoint: Endpoint, machine: Instant, now: Instant
    ) -> (quota: Quota, waitMilliseconds: Int64)? {
        for index in entries.indices where entries[index].meets(store, app, endpoint) {
            let instant = entries[index].quota.isSimulated ? now : machine
            if let wait = entries[index].take(app, at: instant.milliseconds) {
                entries[index].refused += 1
                return (entries[index].quota, wait)
            }
        }
        return nil
    }
}

extension QuotaBook.Entry {
    fileprivate func meets(_ store: StoreName, _ app: String, _ endpoint: Endpoint) -> Bool {
        quota.store == store && (quota.app ?? app) == app
            && (quota.endpoint.map { $0 == endpoint } ?? (endpoint != .token))
    }

    /// Nil when the call is within the quota. A refused call does not count.
    fileprivate mutating func take(_ app: String, at time: Int64) -> Int64? {
        var ring = rings[app] ?? QuotaBook.Ring()
        rings[app] = nil
        defer { rings[app] = ring }
        if ring.times.count < quota.calls {
            ring.times.append(time)
            return nil
        }
        let age = time - ring.times[ring.oldest]
        // A clock that was turned back forgives.
        if age >= 0, age < quota.windowMilliseconds { return quota.windowMilliseconds - age }
        ring.times[ring.oldest] = time
        ring.oldest = (ring.oldest + 1) % quota.calls
        return nil
    }
}

extension World {
    /// Counts a call against the quotas.
    ///
    /// - Throws: the store's answer to one call too many.
    mutating func meter(_ call: Call, app: String, _ endpoint: Endpoint) throws(Refusal) {
        guard !quotas.isEmpty,
            let over = quotas.take(
                call.store, app: app, endpoint: endpoint, machine: SimulatedClock.machineNow,
                now: call.now)
        else { return }
        throw Refusal(Failures.overQuota(over.quota, call.now + over.waitMilliseconds))
    }
}

extension Failures {
    /// Apple says in milliseconds since 1970 when to come back; Google has another status for the
    /// day than for the minute, and says as little as Amazon.
    static func overQuota(_ quota: Quota, _ again: Instant) -> Reply {
        switch quota.store {
        case .apple:
            var reply = Reply(429, Apple.failure(4_290_000, "Rate limit exceeded."))
            reply.headers = [("retry-after", String(again.milliseconds))]
            return reply
        case .google:
            let isDaily = quota.windowMilliseconds >= Instant.day
            let span = isDaily ? "day" : "minute"
            let message =
                "Quota exceeded for quota metric 'Queries' and limit 'Queries per \(span)' of "
                + "service 'androidpublisher.googleapis.com' for consumer "
                + "'project_number:100200300400'."
            return Google.refusal(
                isDaily ? 403 : 429, "rateLimitExceeded", message, domain: "usageLimits",
                status: isDaily ? "PERMISSION_DENIED" : "RESOURCE_EXHAUSTED")
        case .amazon: return Reply(429, Amazon.failure("Too many requests"))
        }
    }
}
