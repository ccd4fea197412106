import Glibc

/// How long an answer takes, in milliseconds, as a distribution.
enum Latency: Hashable, Sendable {
    case fixed(Int64)
    case uniform(Int64, Int64)
    /// Mean and standard deviation; never less than nothing.
    case normal(Int64, Int64)
    /// The median and the value that one in a hundred exceeds: what real services look like.
    case lognormal(Int64, Int64)

    static let limitMilliseconds: Int64 = 600_000

    /// Reads `fixed 80`, `uniform 50 200`, `normal 100 20` or `lognormal 80 2000`; nil for
    /// anything else, and for more than ten minutes.
    init?(text: String) {
        let words = text.split(separator: " ")
        let numbers = words.dropFirst().compactMap { Int64($0) }
        guard let name = words.first, numbers.count == words.count - 1,
            numbers.allSatisfy({ (0...Self.limitMilliseconds).contains($0) })
        else { return nil }
        switch (name, numbers.count) {
        case ("fixed", 1): self = .fixed(numbers[0])
        case ("uniform", 2) where numbers[0] <= numbers[1]: self = .uniform(numbers[0], numbers[1])
        case ("normal", 2): self = .normal(numbers[0], numbers[1])
        case ("lognormal", 2) where numbers[0] >= 1 && numbers[0] <= numbers[1]:
            self = .lognormal(numbers[0], numbers[1])
        default: return nil
        }
    }

    var text: String {
        switch self {
        case .fixed(let value): "fixed \(value)"
        case .uniform(let from, let to): "uniform \(from) \(to)"
        case .normal(let mean, let deviation): "normal \(mean) \(deviation)"
        case .lognormal(let median, let high): "lognormal \(median) \(high)"
        }
    }

    /// A value of the distribution, from 0 to ten minutes.
    func draw(_ chance: inout Seeded) -> Int64 {
        let value: Double =
            switch self {
            case .fixed(let value): Double(value)
            case .uniform(let from, let to): Double(from) + Double(to - from) * chance.fraction()
            case .normal(let mean, let deviation):
                Double(mean) + Double(deviation) * Self.bell(&chance)
            case .lognormal(let median, let high):
                Double(median) * pow(Double(high) / Double(median), Self.bell(&chance) / 2.326)
            }
        return Int64(min(max(value, 0), Double(Self.limitMilliseconds)).rounded())
    }

    /// The sum of twelve even chances less six is a standard normal value, nearly.
    private static func bell(_ chance: inout Seeded) -> Double {
        (0..<12).reduce(-6.0) { sum, _ in sum + chance.fraction() }
    }
}
