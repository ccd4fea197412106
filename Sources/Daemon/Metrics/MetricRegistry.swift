package import CoreMetrics
import Synchronization

/// Keeps what is measured, as a backend of swift-metrics, and writes it down for Prometheus.
///
/// Only the families of `MetricFamily.all` are kept, and of each only so many series: a label that
/// grows without end cannot fill the memory. What there is a thousand times is not kept here but
/// collected when it is asked for.
package final class MetricRegistry: MetricsFactory {
    private let series = Mutex<[String: [Labels: Series]]>([:])
    private let collected: @Sendable (MetricFamily) -> [MetricSample]

    private static let kinds = Dictionary(
        uniqueKeysWithValues: MetricFamily.all.map { ($0.name, $0.kind) })

    /// Series of one family that are kept, at most.
    static let seriesLimit = 2000

    /// - Parameter collected: the samples of a family that somebody else keeps; empty for others.
    init(collected: @escaping @Sendable (MetricFamily) -> [MetricSample] = { _ in [] }) {
        self.collected = collected
    }

    package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        series(label, dimensions)
    }

    package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        series(label, dimensions)
    }

    package func makeRecorder(
        label: String, dimensions: [(String, String)], aggregate: Bool
    ) -> any RecorderHandler {
        series(label, dimensions)
    }

    package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        series(label, dimensions)
    }

    package func destroyCounter(_ handler: any CounterHandler) {}
    package func destroyMeter(_ handler: any MeterHandler) {}
    package func destroyRecorder(_ handler: any RecorderHandler) {}
    package func destroyTimer(_ handler: any TimerHandler) {}

    private func series(_ name: String, _ dimensions: [(String, String)]) -> Series {
        let labels = Labels(dimensions)
        guard let kind = Self.kinds[name] else {
            preconditionFailure("\(name) is not in MetricFamily.all")
        }
        return series.withLock { series in
            if let known = series[name]?[labels] { return known }
            let made = Series(kind)
            if series[name, default: [:]].count < Self.seriesLimit {
                series[name, default: [:]][labels] = made
            }
            return made
        }
    }

    /// How the figures are written.
    package enum Format: Hashable, Sendable {
        /// https://prometheus.io/docs/specs/om/open_metrics_spec/
        case openMetrics
        /// The older format of Prometheus, which `promtool check metrics` reads.
        case text
    }

    /// Everything measured so far, in the order of `MetricFamily.all`.
    package func text(_ format: Format) -> String {
        let known = series.withLock { $0 }
        var text = ""
        for family in MetricFamily.all {
            let kept = known[family.name, default: [:]].map { labels, series in
                (labels.text, series.text(family, labels))
            }
            let collected = collected(family).map { sample in
                let labels = Labels(sample.labels)
                return (labels.text, Series.line(family, labels, sample.value))
            }
            guard !kept.isEmpty || !collected.isEmpty else { continue }
            text += family.head(format)
            for (_, lines) in (kept + collected).sorted(by: { $0.0 < $1.0 }) { text += lines }
        }
        return format == .openMetrics ? text + "# EOF\n" : text
    }
}

/// One number of a counter or gauge, as it is when it is asked for.
struct MetricSample: Sendable {
    let labels: [(String, String)]
    let value: Double

    init(_ labels: [(String, String)], _ value: Double) {
        self.labels = labels
        self.value = value
    }
}

/// The labels of a series, written as they will be served.
private struct Labels: Hashable {
    let text: String

    /// By bytes, as everything that identifies.
    static func == (left: Labels, right: Labels) -> Bool {
        left.text.utf8.elementsEqual(right.text.utf8)
    }

    init(_ dimensions: [(String, String)]) {
        text = dimensions.map { "\($0.0)=\"\(Self.escaped($0.1))\"" }.joined(separator: ",")
    }

    func with(_ more: String) -> String { text.isEmpty ? "{\(more)}" : "{\(text),\(more)}" }

    var braced: String { text.isEmpty ? "" : "{\(text)}" }

    /// Each event looks its counter up by its labels, and hardly any has such a character.
    private static func escaped(_ value: String) -> String {
        guard value.utf8.contains(where: { Self.special.contains($0) }) else { return value }
        return value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
            .replacing("\n", with: "\\n")
    }

    private static let special = Array("\\\"\n".utf8)
}

extension MetricFamily {
    /// All of the family, as it is read.
    func text(_ samples: [MetricSample], _ format: MetricRegistry.Format) -> String {
        samples.reduce(into: head(format)) { text, sample in
            text += Series.line(self, Labels(sample.labels), sample.value)
        }
    }

    fileprivate func head(_ format: MetricRegistry.Format) -> String {
        let isCounter = kind == .counter
        let title = isCounter && format == .text ? "\(name)_total" : name
        let type =
            switch kind {
            case .counter: "counter"
            case .gauge: "gauge"
            case .histogram: "histogram"
            }
        var head = "# TYPE \(title) \(type)\n"
        if format == .openMetrics, let unit { head += "# UNIT \(title) \(unit)\n" }
        return head + "# HELP \(title) \(help)\n"
    }
}

/// One series of numbers; a counter, a gauge or a histogram by its family.
private final class Series: CounterHandler, MeterHandler, RecorderHandler, TimerHandler {
    private struct State {
        var value = 0.0
        var count = 0
        /// Not yet added up: what fell into each bucket.
        var buckets: [Int]
    }

    private let bounds: [Double]
    private let state: Mutex<State>

    init(_ kind: MetricFamily.Kind) {
        bounds = if case .histogram(let bounds) = kind { bounds } else { [] }
        state = Mutex(State(buckets: Array(repeating: 0, count: bounds.count)))
    }

    func increment(by amount: Int64) { state.withLock { $0.value += Double(amount) } }
    func increment(by amount: Double) { state.withLock { $0.value += amount } }
    func decrement(by amount: Double) { state.withLock { $0.value -= amount } }
    func reset() { state.withLock { $0.value = 0 } }
    func set(_ value: Int64) { set(Double(value)) }
    func set(_ value: Double) { state.withLock { $0.value = value } }

    func record(_ value: Int64) { record(Double(value)) }

    func record(_ value: Double) {
        let bucket = bounds.firstIndex { value <= $0 }
        state.withLock { state in
            state.value += value
            state.count += 1
            if let bucket { state.buckets[bucket] += 1 }
        }
    }

    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }

    func text(_ family: MetricFamily, _ labels: Labels) -> String {
        let (value, count, buckets) = state.withLock { ($0.value, $0.count, $0.buckets) }
        guard case .histogram = family.kind else {
            return Self.line(family, labels, value)
        }
        var text = ""
        var below = 0
        for (bound, inside) in zip(bounds, buckets) {
            below += inside
            let le = "le=\"\(Self.number(bound, isBound: true))\""
            text += "\(family.name)_bucket\(labels.with(le)) \(below)\n"
        }
        return text + "\(family.name)_bucket\(labels.with("le=\"+Inf\"")) \(count)\n"
            + "\(family.name)_count\(labels.braced) \(count)\n"
            + "\(family.name)_sum\(labels.braced) \(Self.number(value))\n"
    }

    /// The line of a counter or gauge.
    static func line(_ family: MetricFamily, _ labels: Labels, _ value: Double) -> String {
        "\(family.sampleNames[0])\(labels.braced) \(number(value))\n"
    }

    /// Whole numbers without a point, but for bounds: OpenMetrics wants them as floats.
    private static func number(_ value: Double, isBound: Bool = false) -> String {
        guard !isBound, let whole = Int64(exactly: value) else { return "\(value)" }
        return "\(whole)"
    }
}
