extension Sequence {
    /// The elements in the order of what `key` reads of each, once. Equal ones stay in their order.
    /// Wide elements are neither copied to be compared nor moved more than once.
    @inlinable
    package func sorted<Key: Comparable>(on key: (Element) -> Key) -> [Element] {
        let elements = Array(self)
        let keys = elements.map(key)
        return elements.indices.sorted { (keys[$0], $0) < (keys[$1], $1) }.map { elements[$0] }
    }
}
