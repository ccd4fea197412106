import FoundationEssentials
import Renewal

/// The machine's clock: for the validity times inside signed requests and for log lines, never for
/// a decision (design rule 12).
enum WallClock {
    static func now() -> Timestamp {
        Timestamp(microsecondsSinceEpoch: Int64(Date().timeIntervalSince1970 * 1_000_000))
    }
}
