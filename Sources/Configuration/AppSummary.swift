import Renewal

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
