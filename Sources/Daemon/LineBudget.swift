/// How many lines of a kind that nobody has to act on the log takes in a while: a back-fill of a
/// million purchases is no reason for a million lines. Each kind has its own room, so that many
/// grants do not hide the one problem among them.
///
/// Pure: the time is passed in.
package struct LineBudget: Sendable {
    /// Lines of one kind that are written whole in a span.
    package static let limit = 200
    package static let span = Duration.seconds(10)

    private var began: ContinuousClock.Instant?
    private var written: [String: Int] = [:]
    private var left: [String: Int] = [:]

    package init() {}

    /// Whether nothing was left out since the last summary.
    package var isEmpty: Bool { left.isEmpty }

    /// Whether the line is written. The word is its kind, under which it is counted when it is left
    /// out, such as `grants`.
    package mutating func admits(_ word: String, at now: ContinuousClock.Instant) -> Bool {
        if began.map({ now - $0 >= Self.span }) ?? true {
            began = now
            written = [:]
        }
        guard written[word, default: 0] < Self.limit else {
            left[word, default: 0] += 1
            return false
        }
        written[word, default: 0] += 1
        return true
    }

    /// What was left out since the last time; nil when nothing was.
    package mutating func summary() -> String? {
        guard !left.isEmpty else { return nil }
        defer { left = [:] }
        let words = left.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
            .map { "\($0.value) \($0.key)" }
        return "\(left.values.reduce(0, +)) lines were summarised: "
            + words.joined(separator: ", ")
    }
}
