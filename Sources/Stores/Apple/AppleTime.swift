import Renewal

/// What time an answer of Apple's was made, by Apple and by the database (design rule 12): the one
/// way by which both reach what it is read for.
struct AppleTime: Hashable, Sendable {
    /// By the database's clock.
    let now: Timestamp
    /// By Apple: the `Date` of the answer, or when it says that it was made. Nil where it says
    /// neither.
    let told: Timestamp?

    private var moment: Moment { Moment(now: now, jitter: 0, storeNow: told) }

    /// Whether Apple tells a time that can be believed. Where it does not, nothing is over because
    /// a date has passed by our clock.
    var isProven: Bool { moment.proven != moment.unproven }

    /// The earlier of the two clocks: a clock that is ahead ends nothing early. Ours where Apple
    /// tells no time: good for good news alone.
    var instant: Timestamp { isProven ? moment.proven : now }

    /// So much later than this is nonsense: clocks of one store's machines differ a little.
    var latest: Timestamp { (told ?? now) + .minutes(5) }

    /// The same, where the answer itself says nothing and a part of it says when it was made.
    func told(atLeast signed: Timestamp?) -> AppleTime { AppleTime(now: now, told: told ?? signed) }
}
