import Foundation
import TestSupport
import Testing

/// `make quota`: three workers start, stop and are killed, an hour long (`MINUTES=60`), while more
/// is due than the stores may be asked and people wait at terminals. No store is asked once too
/// often, and next to nothing of what it allows is left unused.
///
/// `RENEWALD_QUOTA_MINUTES` says how long. Without it they work for twenty seconds beside other tests,
/// where calls arrive late and together, and use four fifths of what the stores allow. The seed is
/// printed.
struct QuotaHourTests {
    private static let minutes =
        ProcessInfo.processInfo.environment["RENEWALD_QUOTA_MINUTES"].flatMap { Double($0) }
    private static let short = 1.0 / 3

    @Test func noWindowHoldsMoreThanTheStoreAllows() async throws {
        let seed = Seeds.fresh()
        let minutes = Self.minutes ?? Self.short
        print("quota: \(minutes) minutes, seed \(seed)")
        let found = try await QuotaHour.play(
            seed: seed, for: .seconds(60) * minutes, using: Self.minutes == nil ? 0.8 : 1)
        print(found)
        guard Self.minutes != nil else {
            // Where workers do not share the quota, some hundred in a thousand are refused.
            return #expect(found.refused * 100 < found.calls && found.calls > 100)
        }
        #expect(found.refused == 0)
        #expect(found.used.values.allSatisfy { $0 >= 0.95 })
    }
}
