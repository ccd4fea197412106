import Glibc

/// `soak [--seed N] [--seeds COUNT | --seconds N] [--fleet N] [--days N] [--calls PER_DAY]
/// [--features drawn|all] [--sabotage NAME] [--shrink RUNS]`; `soak --forecast DAY …`, which
/// compares what `plan` says on that day with what comes; and `soak --lag CUSTOMERS`, which compares
/// ways to find out what has changed.
package struct Command {
    private var first: UInt64 = 1
    private var seeds = 1
    private var seconds: Int?
    private var fleet = 300
    private var days = 730
    /// Nil: each seed leaves a random part out.
    private var features: Features?
    private var sabotage: Sabotage?
    /// So many runs a failure is worth to be made small.
    private var shrink = 40
    private var foresight: Foresight?
    private var callsPerDay: Int?
    private var lagOf: Int?

    package init(_ arguments: [String]) {
        var words = arguments.dropFirst()
        while let word = words.popFirst() {
            guard let value = words.popFirst() else { Self.end("\(word) needs a value") }
            switch word {
            case "--seed": first = Self.number(value)
            case "--seeds": seeds = Self.number(value)
            case "--seconds": seconds = Self.number(value)
            case "--fleet": fleet = Self.number(value)
            case "--days": days = Self.number(value)
            case "--forecast": foresight = Foresight(day: Self.number(value))
            case "--lag": lagOf = Self.number(value)
            case "--calls": callsPerDay = Self.number(value)
            case "--shrink": shrink = Self.number(value)
            case "--features":
                switch value {
                case "drawn": features = nil
                case "all": features = .all
                default: Self.end("--features is drawn or all")
                }
            case "--sabotage":
                guard let known = Sabotage(rawValue: value) else {
                    Self.end(
                        "--sabotage is one of "
                            + Sabotage.allCases.map(\.rawValue).joined(separator: ", "))
                }
                sabotage = known
            default: Self.end("\(word) is not known")
            }
        }
    }

    private static func number<Number: FixedWidthInteger>(_ text: String) -> Number {
        guard let number = Number(text), number > 0 else { end("\(text) is no number above zero") }
        return number
    }

    private static func end(_ words: String) -> Never {
        print("soak: \(words)")
        exit(64)
    }

    /// Lives one seed after the other; a failing one is made small and told.
    package func run() -> Never {
        // What is made once in a process is made before the first seed: each is the same wherever it
        // stands.
        _ = Fleet.live(Plan(seed: 0, fleet: 1, days: 2))
        if let lagOf {
            LagTable(fleet: lagOf, seed: first).print { line in
                print(line)
                fflush(nil)
            }
            exit(0)
        }
        var sums = Sums()
        var told: Set<String> = []
        let began = time(nil)
        var seed = first
        while seconds.map({ time(nil) - began < $0 }) ?? (sums.runs < seeds) {
            var plan = Plan(seed: seed, fleet: fleet, days: days, sabotage: sabotage)
            if let features { plan.features = features }
            if let callsPerDay { plan.callsPerSecond = Double(callsPerDay) / 86_400 }
            if let foresight {
                plan.foresight = foresight
                plan.usualSweepShare = 0.5
                plan.features = plan.features.ofCustomersAlone
            }
            let report = Fleet.live(plan)
            sums.add(report)
            print(report.line, "digest", String(report.digest, radix: 16))
            for fault in report.faults { print("  \(fault)") }
            for line in report.comparison?.lines ?? [] { print("  \(line)") }
            fflush(nil)
            if let rule = report.violations.first?.rule, told.insert(rule).inserted,
                var shrinker = Shrinker(report, runs: shrink)
            {
                shrinker.shrink()
                for line in shrinker.story { print("    \(line)") }
            }
            fflush(nil)
            seed += 1
        }
        for line in sums.lines(after: time(nil) - began).dropLast() { print(line) }
        print(sums.lines(after: 1).last ?? "")
        exit(sums.violations == 0 ? 0 : 1)
    }
}
