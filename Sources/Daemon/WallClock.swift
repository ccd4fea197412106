import FoundationEssentials
import Renewal

/// The machine's clock: for the validity times inside signed requests and for log lines, never for
/// a decision (design rule 12).
enum WallClock {
    static func now() -> Timestamp {
        Timestamp(microsecondsSinceEpoch: Int64(Date().timeIntervalSince1970 * 1_000_000))
    }
}

extension Timestamp {
    /// Such as `2026-02-01T00:00:00Z`, in whole seconds.
    package var text: String {
        let seconds = Double(microsecondsSinceEpoch / 1_000_000)
        return Date(timeIntervalSince1970: seconds).formatted(.iso8601)
    }
}
