import FoundationEssentials
import Sockets

/// The way to the service manager, when there is one: `$NOTIFY_SOCKET` and `$WATCHDOG_USEC`.
///
/// Without them, or with an address that nobody listens on, every message is dropped in silence:
/// the daemon also runs in a terminal.
package final class ServiceManager: Sendable {
    private let sender: DatagramSender?
    /// How often the manager wants to hear that the work advances; it kills at the end of it. Nil
    /// when it does not watch.
    package let watchdog: Duration?

    /// Tries to send what must arrive, while the manager is busy.
    private static let attemptLimit = 50
    private static let attemptPause = Duration.milliseconds(20)

    /// - Parameters:
    ///   - environment: of the process.
    ///   - processID: of the process; a watchdog that is meant for another is not ours.
    package init(environment: [String: String], processID: Int32) {
        let address = environment["NOTIFY_SOCKET"] ?? ""
        // Other families, such as vsock, are for the managers of machines.
        let isSocket = address.hasPrefix("/") || address.hasPrefix("@")
        sender = isSocket ? DatagramSender(path: address) : nil
        let isOurs = environment["WATCHDOG_PID"].map { $0 == String(processID) } ?? true
        let interval = environment["WATCHDOG_USEC"].flatMap { Int64($0) } ?? 0
        watchdog = isOurs && interval > 0 ? .microseconds(interval) : nil
    }

    /// Whether anybody listens.
    package var isThere: Bool { sender != nil }

    /// Sends all in one datagram, or drops them when the manager is too busy.
    package func mention(_ notifications: Notification...) {
        _ = sender?.send(Notification.datagram(notifications))
    }

    /// Sends all in one datagram, and again while the manager is too busy.
    package func tell(_ notifications: Notification...) async {
        guard let sender else { return }
        let datagram = Notification.datagram(notifications)
        for _ in 0..<Self.attemptLimit {
            guard sender.send(datagram) == .full else { return }
            try? await Task.sleep(for: Self.attemptPause)
        }
    }

    /// A reload that begins now.
    package static func reloadingNow() -> Notification {
        // CLOCK_MONOTONIC, as the manager's.
        .reloading(microseconds: UInt64(ProcessInfo.processInfo.systemUptime * 1_000_000))
    }
}
