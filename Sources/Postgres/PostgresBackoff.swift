/// How long to wait before connecting again: a random share of a span that doubles with each
/// failure, up to ten seconds ("full jitter"), so that many workers do not come back at once.
///
/// See https://aws.amazon.com/builders-library/timeouts-retries-and-backoff-with-jitter/.
package struct PostgresBackoff: Hashable, Sendable {
    /// The first span.
    package static let base: Duration = .milliseconds(100)
    /// The longest span.
    package static let ceiling: Duration = .seconds(10)

    /// Failures in a row so far.
    package private(set) var failures = 0

    package init() {}

    /// Counts a failure.
    ///
    /// - Parameter random: where chance comes from.
    /// - Returns: the time to wait.
    package mutating func failed(using random: inout some RandomNumberGenerator) -> Duration {
        failures += 1
        let doublings = min(failures - 1, 10)
        let span = min(Self.base * (1 << doublings), Self.ceiling)
        return span * Double.random(in: 0...1, using: &random)
    }

    /// Connected: the next failure begins anew.
    package mutating func succeeded() {
        failures = 0
    }
}
