import Dispatch

/// Calls back after a while, on a queue of its own: for what has no task to wait in, such as a log.
package final class DelayedCall: Sendable {
    private let queue: DispatchQueue

    /// - Parameter label: shown by debuggers.
    package init(label: String) {
        queue = DispatchQueue(label: label)
    }

    package func call(after pause: Duration, _ work: @escaping @Sendable () -> Void) {
        let (seconds, attoseconds) = pause.components
        let nanoseconds = Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
        queue.asyncAfter(deadline: .now() + .nanoseconds(nanoseconds), execute: work)
    }
}
