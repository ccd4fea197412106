import FoundationEssentials

/// A clock that is set, moved, stopped and sped up against the machine's.
struct SimulatedClock: Hashable, Sendable {
    /// Simulated seconds in a second of the machine; 0 stands still.
    private(set) var speed = 1.0
    /// A moment of the machine's clock and what this one showed then.
    private var machineAnchor: Instant
    private var anchor: Instant
    /// The offset is kept to whole seconds, so that a process under libfaketime reads the same.
    private let wholeSeconds: Bool

    init(machine: Instant, wholeSeconds: Bool) {
        self.wholeSeconds = wholeSeconds
        machineAnchor = machine
        anchor = machine
    }

    func now(machine: Instant) -> Instant {
        let elapsed = machine - machineAnchor
        return anchor + (speed == 1 ? elapsed : Int64((Double(elapsed) * speed).rounded(.down)))
    }

    /// Milliseconds that this clock is ahead of the machine's.
    func offset(machine: Instant) -> Int64 { now(machine: machine) - machine }

    mutating func set(_ instant: Instant, machine: Instant) {
        let offset = instant - machine
        machineAnchor = machine
        anchor =
            machine + (wholeSeconds ? Instant.floorDivide(offset + 500, 1000) * 1000 : offset)
    }

    mutating func advance(_ period: Period, machine: Instant) {
        set(now(machine: machine).adding(period), machine: machine)
    }

    /// From now on the clock runs at `speed`. Not for a clock that libfaketime shares.
    mutating func run(at speed: Double, machine: Instant) {
        set(now(machine: machine), machine: machine)
        self.speed = speed
    }

    /// The offset as libfaketime reads it from FAKETIME_TIMESTAMP_FILE: `+2592000`, `-25000000`.
    func faketimeText(machine: Instant) -> String {
        let seconds = Instant.floorDivide(offset(machine: machine) + 500, 1000)
        return seconds < 0 ? "\(seconds)\n" : "+\(seconds)\n"
    }

    /// The time of the machine this process runs on.
    static var machineNow: Instant {
        Instant(milliseconds: Int64((Date().timeIntervalSince1970 * 1000).rounded(.down)))
    }
}
