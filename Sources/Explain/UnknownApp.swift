package import Renewal

/// An app that purchases were submitted for and that is not configured.
package struct UnknownApp: Hashable, Sendable {
    package let key: AppKey
    package let purchases: Int64
    /// The configured one that was probably meant; nil where there is none.
    package let nearest: AppKey?

    /// It is in the configuration that was read here, and not in that of the workers.
    private var isConfiguredHere: Bool { nearest == key }

    /// So many are named; who makes them up may make up any number.
    package static let namedLimit = 10

    package init(_ key: AppKey, purchases: Int64, nearest: AppKey?) {
        self.key = key
        self.purchases = purchases
        self.nearest = nearest
    }

    /// Such as `google com.example.raeder is not configured: 12 purchases wait; the nearest
    /// configured app is google com.example.reader`.
    package var sentence: String {
        let count = purchases == 1 ? "1 purchase waits" : "\(purchases) purchases wait"
        guard !isConfiguredHere else {
            return "\(key.store.rawValue) \(key.id) is configured here, and no worker has it: "
                + "\(count); reload or restart the workers"
        }
        let meant = nearest.map { "; the nearest configured app is \($0.store.rawValue) \($0.id)" }
        return "\(key.store.rawValue) \(key.id) is not configured: \(count)" + (meant ?? "")
    }
}
