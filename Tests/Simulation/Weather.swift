import Renewal
import TestSupport

/// What is wrong with the world, and when: drawn beforehand for the whole run.
struct Weather: Sendable {
    /// The first begins first.
    private let windows: [Window]
    /// The same, of each kind; those of one kind do not overlap.
    private let byTrouble: [Trouble: [Window]]

    struct Window: Sendable {
        let trouble: Trouble
        let from: Timestamp
        let to: Timestamp
        /// How far behind or off, or how slow.
        var amount = Duration.zero

        /// How long it goes on spoiling things when it is over.
        var rest: Duration {
            switch trouble {
            case .behind: amount
            case .lie: .hours(27)
            case .timeout, .unavailable, .page, .truncated, .throttled, .forbidden, .slow,
                .database, .clock:
                .hours(3)
            }
        }
    }

    enum Trouble: String, Hashable, Sendable, CaseIterable {
        // The store's.
        case timeout = "time-outs"
        case unavailable = "503"
        case page = "HTML with 200"
        case truncated = "truncated JSON"
        case throttled = "429"
        case forbidden = "403"
        case behind = "stale replica"
        case slow = "slow answers"
        case lie = "everybody expired"
        // The database's.
        case database = "database away"
        case clock = "database's clock off"

        var isOfStore: Bool { self != .database && self != .clock }

        /// Whether checks go on as if nothing were.
        var isHarmless: Bool { self == .clock }
    }

    private static let kinds: [(Feature, [Trouble], often: Duration, longest: Duration)] = [
        (.outages, [.timeout, .unavailable], .days(20), .days(2)),
        (.nonsense, [.page, .truncated], .days(25), .days(1)),
        (.throttling, [.throttled], .days(15), .hours(12)),
        (.refusals, [.forbidden], .days(60), .days(1)),
        (.staleReplicas, [.behind], .days(12), .days(2)),
        (.slowAnswers, [.slow], .days(20), .hours(6)),
        (.databaseOutages, [.database], .days(20), .hours(8)),
        (.clockSteps, [.clock], .days(30), .days(1)),
        (.lies, [.lie], .days(20), .hours(20)),
    ]

    init(_ plan: Plan) {
        var windows: [Window] = []
        for (feature, troubles, often, longest) in Self.kinds where plan.features.has(feature) {
            var chance = SeededGenerator(plan.seed, "weather \(feature.rawValue)")
            var now = World.start + chance.between(.zero, often * 2)
            while now < plan.end {
                let most = chance.chance(0.3) ? longest : longest / 12
                let length = chance.between(.seconds(30), most)
                let trouble = chance.any(troubles)
                windows.append(
                    Window(
                        trouble: trouble, from: now, to: now + length,
                        amount: Self.amount(trouble, &chance)))
                now = now + length + chance.between(.hours(1), often * 2)
            }
        }
        self.windows = windows.sorted { $0.from < $1.from }
        byTrouble = Dictionary(grouping: self.windows, by: \.trouble)
    }

    private static func amount(_ trouble: Trouble, _ chance: inout SeededGenerator) -> Duration {
        switch trouble {
        case .behind: chance.between(.seconds(10), chance.chance(0.3) ? .hours(30) : .hours(2))
        case .slow: chance.between(.seconds(1), .seconds(25))
        case .clock:
            chance.chance(0.5)
                ? chance.between(.seconds(2), .hours(2))
                : .zero - chance.between(.seconds(2), .hours(2))
        case .throttled: chance.between(.seconds(1), .minutes(30))
        case .timeout, .unavailable, .page, .truncated, .forbidden, .lie, .database: .zero
        }
    }

    func active(at time: Timestamp) -> [Window] {
        Trouble.allCases.compactMap { active($0, at: time) }.sorted { $0.from < $1.from }
    }

    func active(_ trouble: Trouble, at time: Timestamp) -> Window? {
        guard let windows = byTrouble[trouble] else { return nil }
        var (low, high) = (0, windows.count)
        while low < high {
            let middle = (low + high) / 2
            if windows[middle].from <= time { low = middle + 1 } else { high = middle }
        }
        guard low > 0, time < windows[low - 1].to else { return nil }
        return windows[low - 1]
    }

    /// How much of the time since then has been spoiled, each trouble with what it leaves behind.
    func spoiled(from: Timestamp, to: Timestamp) -> Duration {
        var sum = Duration.zero
        for window in windows where !window.trouble.isHarmless {
            guard window.from < to else { break }
            let rest = window.rest
            if window.to + rest > from {
                sum += min(window.to + rest, to) - max(window.from, from)
            }
        }
        return sum
    }

    /// How often each was met in a run.
    var counts: [Trouble: Int] {
        windows.reduce(into: [:]) { $0[$1.trouble, default: 0] += 1 }
    }
}
