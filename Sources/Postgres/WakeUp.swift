import CPostgres
import Glibc
import Synchronization

/// Gets through a wait in `poll(2)` from any thread: an `eventfd(2)` that is in the poll set, and
/// what was wanted.
final class WakeUp: Sendable {
    struct Wishes: OptionSet {
        let rawValue: UInt8
        /// End what runs now.
        static let cancel = Wishes(rawValue: 1)
        /// Drop the connection, for good.
        static let close = Wishes(rawValue: 2)
    }

    private let wishes = Mutex<Wishes>([])
    /// Readable while there is a wish.
    let descriptor: Int32

    init() {
        descriptor = eventfd(0, O_CLOEXEC | O_NONBLOCK)
        precondition(descriptor >= 0, "the process has no file descriptor left")
    }

    deinit {
        close(descriptor)
    }

    /// Adds a wish and wakes the waiting thread.
    func raise(_ wish: Wishes) {
        wishes.withLock { wishes in
            guard !wishes.contains(wish) else { return }
            wishes.insert(wish)
            var one: UInt64 = 1
            _ = write(descriptor, &one, 8)
        }
    }

    var current: Wishes {
        wishes.withLock { $0 }
    }

    /// Forgets a wish, so that it does not reach the next call.
    func forget(_ wish: Wishes) {
        wishes.withLock { wishes in
            guard !wishes.isDisjoint(with: wish) else { return }
            wishes.subtract(wish)
            guard wishes.isEmpty else { return }
            var count: UInt64 = 0
            _ = read(descriptor, &count, 8)
        }
    }
}
