import FoundationEssentials

/// The machine's clock moved by an offset; it runs on between moves.
///
/// A clock that stands still or runs faster would be another rule of `now(machine:)`.
package struct SimulatedClock: Hashable, Sendable {
    /// Milliseconds that simulated time is ahead of the machine's.
    package private(set) var offset: Int64
    /// The offset is kept to whole seconds, so that a process under libfaketime reads the same.
    private let wholeSeconds: Bool

    package init(offset: Int64 = 0, wholeSeconds: Bool) {
        self.wholeSeconds = wholeSeconds
        self.offset = offset
        round()
    }

    package func now(machine: Instant) -> Instant { machine + offset }

    package mutating func set(_ instant: Instant, machine: Instant) {
        offset = instant - machine
        round()
    }

    package mutating func advance(_ period: Period, machine: Instant) {
        set(now(machine: machine).adding(period), machine: machine)
    }

    private mutating func round() {
        if wholeSeconds { offset = Instant.floorDivide(offset + 500, 1000) * 1000 }
    }

    /// The offset as libfaketime reads it from FAKETIME_TIMESTAMP_FILE: `+2592000`, `-25000000`.
    package var faketimeText: String {
        let seconds = Instant.floorDivide(offset + 500, 1000)
        return seconds < 0 ? "\(seconds)\n" : "+\(seconds)\n"
    }

    /// The time of the machine this process runs on.
    package static var machineNow: Instant {
        Instant(milliseconds: Int64((Date().timeIntervalSince1970 * 1000).rounded(.down)))
    }
}
