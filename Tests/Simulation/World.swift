import CScheduler
import Renewal
import TestSupport

/// The time and the order of everything while a run lasts: one thread, a seed, a clock that leaps.
enum World {
    /// The first instant of every run: 2026-01-01 00:00 UTC.
    static let start = Timestamp(microsecondsSinceEpoch: 1_767_225_600_000_000)
    private static let clockStart = Duration.days(1)

    /// The true time.
    static var now: Timestamp {
        start + .nanoseconds(renewald_world_now()) - clockStart
    }

    /// Waits for the clock to leap there.
    static func wait(until time: Timestamp) async {
        await wait(for: time - now)
    }

    static func wait(for duration: Duration) async {
        guard duration > .zero else { return }
        try? await ContinuousClock().sleep(until: .now + duration, tolerance: nil)
    }

    /// Adds what was seen to the digest of the run.
    static func note(_ number: Int64) { renewald_world_note(UInt64(bitPattern: number)) }

    /// Lets `body` and all that it starts run to the end, or up to so many jobs.
    ///
    /// - Returns: the digest of all that was run, and whether it came to an end.
    static func run(
        seed: UInt64, atMost limit: UInt64, _ body: @escaping @Sendable () async -> Void
    ) -> (digest: UInt64, hasEnded: Bool) {
        renewald_world_begin(seed)
        defer { renewald_world_end() }
        Task.detached { await body() }
        while renewald_world_steps() < limit {
            if !renewald_world_step() { return (renewald_world_digest(), true) }
        }
        return (renewald_world_digest(), false)
    }
}

extension SeededGenerator {
    /// A stream of its own for each concern, so that one that is left out moves no other.
    init(_ seed: UInt64, _ concern: String, _ number: Int = 0) {
        var mixed = seed &+ UInt64(number) &* 0x9E37_79B9_7F4A_7C15
        for byte in concern.utf8 { mixed = (mixed ^ UInt64(byte)) &* 0x100_0000_01B3 }
        self.init(seed: mixed)
        _ = next()
    }

    mutating func chance(_ probability: Double) -> Bool {
        Double.random(in: 0..<1, using: &self) < probability
    }

    mutating func between(_ least: Duration, _ most: Duration) -> Duration {
        .microseconds(
            Int64.random(in: least.microseconds...max(least, most).microseconds, using: &self))
    }

    mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &self) }

    mutating func any<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }
}
