import Renewal

/// The ticks of a time axis, on round times of the calendar.
struct TimeAxis: Hashable, Sendable {
    struct Tick: Hashable, Sendable {
        let at: Timestamp
        let label: String
        /// The larger unit, at the first tick and where it changes.
        let below: String?
    }

    let ticks: [Tick]

    /// With as many ticks as have room for their labels.
    init(from: Timestamp, to: Timestamp, most: Int) {
        let step = Step.all.first { $0.count(from, to) <= max(most, 1) } ?? Step.longest
        var ticks: [Tick] = []
        var shown: String?
        for at in step.instants(from, to) {
            let (label, larger) = step.labels(at)
            ticks.append(Tick(at: at, label: label, below: larger == shown ? nil : larger))
            shown = larger
        }
        self.ticks = ticks
    }
}

/// The distance of two ticks.
private enum Step {
    case minutes(Int64)
    case days(Int64)
    case months(Int64)

    static let longest = Step.months(1200)
    static let all: [Step] =
        [1, 5, 15, 30, 60, 180, 360, 720].map(Step.minutes) + [1, 2, 7, 14].map(Step.days)
        + [1, 2, 3, 6, 12, 24, 60, 120].map(Step.months) + [longest]

    private static let minute: Int64 = 60_000_000
    private static let day = 1440 * minute
    /// The first Monday after 1970-01-01, so that weeks begin on Mondays.
    private static let monday = 4 * day

    /// About how many there are; at least as many as there are.
    func count(_ from: Timestamp, _ to: Timestamp) -> Int {
        Int((to - from).microseconds / length) + 1
    }

    private var length: Int64 {
        switch self {
        case .minutes(let count): count * Self.minute
        case .days(let count): count * Self.day
        case .months(let count): count * 28 * Self.day
        }
    }

    func instants(_ from: Timestamp, _ to: Timestamp) -> [Timestamp] {
        switch self {
        case .minutes: regular(from, to, origin: 0)
        case .days: regular(from, to, origin: Self.monday)
        case .months(let count): months(count, from, to)
        }
    }

    private func regular(_ from: Timestamp, _ to: Timestamp, origin: Int64) -> [Timestamp] {
        let over = (from.microsecondsSinceEpoch - origin) % length
        let first = from.microsecondsSinceEpoch - over + (over > 0 ? length : 0)
        return stride(from: first, through: to.microsecondsSinceEpoch, by: Int(length)).map {
            Timestamp(microsecondsSinceEpoch: $0)
        }
    }

    private func months(_ count: Int64, _ from: Timestamp, _ to: Timestamp) -> [Timestamp] {
        let start = CivilTime(from)
        let first = start.year * 12 + start.month - 1
        var instants: [Timestamp] = []
        for index in first / count...(first / count + Int64(self.count(from, to)) + 1) {
            let at = CivilTime.beginning(year: index * count / 12, month: index * count % 12 + 1)
            if at >= from, at <= to { instants.append(at) }
        }
        return instants
    }

    func labels(_ at: Timestamp) -> (label: String, larger: String?) {
        let time = CivilTime(at)
        return switch self {
        case .minutes: (time.clock, time.dayAndMonth)
        case .days: (time.dayAndMonth, "\(time.year)")
        case .months(let count) where count < 12: (time.monthName, "\(time.year)")
        case .months: ("\(time.year)", nil)
        }
    }
}
