/// What a store tells of all its purchases, kept for each subscription until it is acknowledged.
struct Topic: Sendable {
    private static let retention = 7 * Instant.day

    struct Message: Sendable {
        var number: Int
        var published: Instant
        var data: JSON
    }

    /// A message on its way to one subscriber.
    struct Delivery: Sendable {
        var message: Message
        var attempt: Int
        var ackID: String
    }

    private struct Lease {
        var until: Instant
        var attempt: Int
    }

    private struct Subscription {
        /// All messages below this number are done with.
        var floor: Int
        var acknowledged: Set<Int> = []
        var leases: [Int: Lease] = [:]
    }

    /// For how long a delivered message is not delivered again, in milliseconds.
    var ackDeadline = 10 * Instant.second
    /// The oldest first; their numbers have no gaps.
    private(set) var messages: [Message] = []
    private var dropped = 0
    private var subscriptions: [String: Subscription]
    /// How many happenings of each purchase are published, by purchase number.
    private var published: [Int] = []

    /// With a subscription that exists from the start.
    init(subscription: String) {
        subscriptions = [subscription: Subscription(floor: 0)]
    }

    func has(_ subscription: String) -> Bool { subscriptions[subscription] != nil }

    /// A new subscription gets what is published from now on.
    mutating func subscribe(_ name: String) {
        if has(name) { return }
        subscriptions[name] = Subscription(floor: dropped + messages.count)
    }

    mutating func publish(_ data: JSON, at instant: Instant) {
        messages.append(
            Message(number: dropped + messages.count, published: instant, data: data))
    }

    /// Which happenings of a purchase are new; they count as published.
    mutating func news(of purchase: Int, _ happenings: [Happening], at now: Instant)
        -> ArraySlice<Happening>
    {
        if published.count <= purchase {
            let missing = purchase + 1 - published.count
            published.append(contentsOf: repeatElement(0, count: missing))
        }
        let begin = min(published[purchase], happenings.count)
        var end = begin
        while end < happenings.count, happenings[end].at <= now { end += 1 }
        published[purchase] = end
        return happenings[begin..<end]
    }

    /// Forgets what nobody fetched in seven days.
    mutating func dropOld(at now: Instant) {
        let count = messages.prefix { $0.published + Self.retention < now }.count
        guard count > 0 else { return }
        messages.removeFirst(count)
        dropped += count
    }

    /// At most `limit` messages that are neither acknowledged nor on their way.
    mutating func pull(_ name: String, limit: Int, at now: Instant) -> [Delivery] {
        guard var subscription = subscriptions[name] else { return [] }
        subscription.floor = max(subscription.floor, dropped)
        while subscription.acknowledged.remove(subscription.floor) != nil {
            subscription.floor += 1
        }
        var deliveries: [Delivery] = []
        for message in messages.dropFirst(subscription.floor - dropped) {
            if deliveries.count >= limit { break }
            let number = message.number
            let lease = subscription.leases[number]
            if subscription.acknowledged.contains(number) { continue }
            // A clock that was turned back does not keep a message for ever.
            if let lease, lease.until > now, lease.until - now <= 600 * Instant.second { continue }
            let attempt = (lease?.attempt ?? 0) + 1
            subscription.leases[number] = Lease(until: now + ackDeadline, attempt: attempt)
            deliveries.append(
                Delivery(
                    message: message, attempt: attempt,
                    ackID: Self.ackID(name, number, attempt)))
        }
        subscriptions[name] = subscription
        return deliveries
    }

    /// How many messages of a subscription are not acknowledged.
    func waiting(_ name: String) -> Int {
        guard let subscription = subscriptions[name] else { return 0 }
        let floor = max(subscription.floor, dropped)
        return dropped + messages.count - floor
            - subscription.acknowledged.count { $0 >= floor }
    }

    /// False when an id is none of this subscription's; then nothing is acknowledged.
    mutating func acknowledge(_ name: String, _ ids: [String]) -> Bool {
        let numbers = ids.compactMap { Self.number(ofAckID: $0, name) }
        guard numbers.count == ids.count else { return false }
        for number in numbers {
            subscriptions[name]?.leases[number] = nil
            if number >= subscriptions[name]?.floor ?? 0 {
                subscriptions[name]?.acknowledged.insert(number)
            }
        }
        return true
    }

    /// Delivers again after `milliseconds`; zero gives a message back at once.
    mutating func extend(
        _ name: String, _ ids: [String], by milliseconds: Int64, at now: Instant
    ) -> Bool {
        let numbers = ids.compactMap { Self.number(ofAckID: $0, name) }
        guard numbers.count == ids.count else { return false }
        for number in numbers {
            subscriptions[name]?.leases[number]?.until = now + milliseconds
        }
        return true
    }

    /// Everything that is still kept is delivered again, acknowledged or not.
    mutating func redeliver() {
        for name in subscriptions.keys {
            subscriptions[name] = Subscription(floor: dropped)
        }
    }

    private static func ackID(_ name: String, _ number: Int, _ attempt: Int) -> String {
        String(decoding: Base64.url("\(name)|\(number)|\(attempt)".utf8), as: UTF8.self)
    }

    private static func number(ofAckID id: String, _ name: String) -> Int? {
        guard let bytes = Base64.bytes(ofURL: id[...].utf8) else { return nil }
        let parts = String(decoding: bytes, as: UTF8.self).split(separator: "|")
        guard parts.count == 3, parts[0] == name else { return nil }
        return Int(parts[1])
    }
}

extension World {
    /// Publishes what has happened in the lives of a store's purchases since the last time.
    private mutating func publish(
        _ store: StoreName, to topic: WritableKeyPath<World, Topic>, at now: Instant,
        _ messages: (Purchase, Happening) -> [JSON]
    ) {
        var news: [(at: Instant, data: JSON)] = []
        for index in purchases.indices where purchases[index].store == store {
            let number = purchases[index].number
            let happenings = life(number, at: now).happenings
            for happening in self[keyPath: topic].news(of: number, happenings, at: now) {
                for data in messages(purchases[index], happening) {
                    news.append((happening.at, data))
                }
            }
        }
        news.sort { $0.at < $1.at }
        for message in news { self[keyPath: topic].publish(message.data, at: message.at) }
        self[keyPath: topic].dropOld(at: now)
    }

    mutating func publishGoogleNews(at now: Instant) {
        publish(.google, to: \.pubSub, at: now, Google.notifications)
    }

    mutating func publishAmazonNews(at now: Instant) {
        publish(.amazon, to: \.amazonTopic, at: now, Amazon.notifications)
    }
}
