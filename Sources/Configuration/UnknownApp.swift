package import Renewal

/// An app that purchases were submitted for and that is not configured.
package struct UnknownApp: Hashable, Sendable {
    package let key: AppKey
    package let purchases: Int64
    /// The configured one that was probably meant; nil where there is none.
    package let nearest: AppKey?

    /// So many are named; who makes them up may make up any number.
    package static let namedLimit = 10

    package init(_ key: AppKey, purchases: Int64, configured: [AppKey]) {
        self.key = key
        self.purchases = purchases
        nearest = Nearest.app(key, among: configured)
    }

    /// Such as `google com.example.raeder is not configured: 12 purchases wait; the nearest
    /// configured app is google com.example.reader`.
    package var sentence: String {
        let count = purchases == 1 ? "1 purchase waits" : "\(purchases) purchases wait"
        let meant = nearest.map { "; the nearest configured app is \($0.store.rawValue) \($0.id)" }
        return "\(key.store.rawValue) \(key.id) is not configured: \(count)" + (meant ?? "")
    }
}

extension [AppKey] {
    /// For a line: all where they are few, else how many of each store.
    package var summary: String {
        guard count > 5 else {
            return map { "\($0.store.rawValue) \($0.id)" }.joined(separator: ", ")
        }
        return Store.allCases.compactMap { store in
            let count = count { $0.store == store }
            return count == 0 ? nil : "\(store.rawValue) \(count)"
        }.joined(separator: ", ")
    }
}
