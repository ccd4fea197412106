import Dispatch

/// The queue on which an actor that owns a blocking C handle runs, so that a call which waits
/// for the network never holds a thread of Swift's shared pool.
///
/// Give one to an actor and return it from `unownedExecutor`. One job at a time, in order.
final class SerialThread: SerialExecutor {
    private let queue: DispatchQueue

    /// - Parameter label: shown by debuggers, such as `renewald.postgres`.
    init(label: String) {
        queue = DispatchQueue(label: label)
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}
