import Synchronization

/// What was made before and may be needed again. When it is full it begins anew.
final class Cache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let entries = Mutex<[Key: Value]>([:])
    private let limit: Int

    init(limit: Int = 4096) {
        self.limit = limit
    }

    subscript(key: Key) -> Value? {
        get { entries.withLock { $0[key] } }
        set {
            entries.withLock { entries in
                if entries.count >= limit { entries = [:] }
                entries[key] = newValue
            }
        }
    }
}
