import Renewal

extension Identity {
    /// Whether it can be a store's name of something. What has a NUL the database does not take,
    /// and what is longer no store is asked about.
    func isReadable(within limitBytes: Int = PathSegment.limitBytes) -> Bool {
        !isEmpty && text.utf8.count <= limitBytes && !text.utf8.contains(0)
    }
}

extension OrderID {
    /// Nil for what is none of a store's.
    var readable: OrderID? { isReadable(within: Self.limitBytes) ? self : nil }

    private static let limitBytes = 1024
}

extension StoreToken {
    /// Nil for what is none of a store's.
    var readable: StoreToken? { isReadable() ? self : nil }
}
