/// One assignment to the service manager; https://man7.org/linux/man-pages/man3/sd_notify.3.html
package enum Notification: Hashable, Sendable {
    /// The start or a reload is done.
    case ready
    /// A reload begins, at this time of `CLOCK_MONOTONIC`. Answered by `ready`, also when it
    /// failed.
    case reloading(microseconds: UInt64)
    case stopping
    /// One sentence for `systemctl status`.
    case status(String)
    /// The work advances.
    case watchdog
    /// The present start or stop needs so long, from now on.
    case extendTimeout(Duration)

    /// Its lines. A status stays one line, whatever it holds.
    package var lines: [String] {
        switch self {
        case .ready: ["READY=1"]
        case .reloading(let microseconds):
            ["RELOADING=1", "MONOTONIC_USEC=\(microseconds)"]
        case .stopping: ["STOPPING=1"]
        case .status(let sentence): ["STATUS=\(LogOutput.printable(sentence))"]
        case .watchdog: ["WATCHDOG=1"]
        case .extendTimeout(let limit): ["EXTEND_TIMEOUT_USEC=\(limit.wholeMicroseconds)"]
        }
    }

    /// Several as one datagram.
    package static func datagram(_ notifications: [Notification]) -> [UInt8] {
        Array(notifications.flatMap(\.lines).joined(separator: "\n").utf8)
    }
}

extension Duration {
    fileprivate var wholeMicroseconds: Int64 {
        components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000
    }
}
