// What values are made of.

extension Bool: Archived {
    init(from archive: inout Archive) {
        let byte = archive.byte()
        if byte > 1 { archive.damage() }
        self = byte == 1
    }

    func write(to archive: inout Archive) { archive.write(self ? 1 : 0) }
}

extension Int64: Archived {
    init(from archive: inout Archive) {
        let folded = archive.number()
        self = Int64(bitPattern: folded >> 1) ^ -Int64(bitPattern: folded & 1)
    }

    /// The sign goes last, so that what is near zero is short.
    func write(to archive: inout Archive) {
        archive.write(number: UInt64(bitPattern: (self << 1) ^ (self >> 63)))
    }
}

extension Int: Archived {
    init(from archive: inout Archive) { self = Int(Int64(from: &archive)) }
    func write(to archive: inout Archive) { Int64(self).write(to: &archive) }
}

extension String: Archived {
    init(from archive: inout Archive) {
        let count = archive.count()
        guard let text = String(validating: archive.take(count), as: UTF8.self) else {
            archive.damage()
            self = ""
            return
        }
        self = text
    }

    func write(to archive: inout Archive) {
        archive.write(count: utf8.count)
        for byte in utf8 { archive.write(byte) }
    }
}

extension Archived where Self: Identity {
    init(from archive: inout Archive) { self.init(String(from: &archive)) }
    func write(to archive: inout Archive) { text.write(to: &archive) }
}

extension UserID: Archived {}
extension ProductID: Archived {}
extension EntitlementID: Archived {}
extension OrderID: Archived {}
extension GroupID: Archived {}

extension Timestamp: Archived {
    init(from archive: inout Archive) {
        self.init(microsecondsSinceEpoch: Int64(from: &archive))
    }

    func write(to archive: inout Archive) { microsecondsSinceEpoch.write(to: &archive) }
}

/// To the microsecond.
extension Duration: Archived {
    init(from archive: inout Archive) { self = .microseconds(Int64(from: &archive)) }
    func write(to archive: inout Archive) { microseconds.write(to: &archive) }
}

extension Optional: Archived where Wrapped: Archived {
    init(from archive: inout Archive) {
        self = Bool(from: &archive) ? Wrapped(from: &archive) : nil
    }

    func write(to archive: inout Archive) {
        (self != nil).write(to: &archive)
        self?.write(to: &archive)
    }
}

extension Array: Archived where Element: Archived {
    init(from archive: inout Archive) {
        self = []
        for _ in 0..<archive.count() where archive.isSound { append(Element(from: &archive)) }
    }

    func write(to archive: inout Archive) {
        archive.write(count: count)
        for element in self { element.write(to: &archive) }
    }
}

/// In the order of their bytes: the same set is the same bytes.
extension Set: Archived where Element: Archived {
    init(from archive: inout Archive) { self = Set([Element](from: &archive)) }

    func write(to archive: inout Archive) {
        archive.write(count: count)
        let parts = map { element in
            var part = Archive()
            element.write(to: &part)
            return part.bytes
        }
        for part in parts.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            for byte in part { archive.write(byte) }
        }
    }
}

// Words, and what is one of several things.

extension Store: ArchivedWord {}
extension StoreEnvironment: ArchivedWord {}
extension ProductKind: ArchivedWord {}
extension PurchaseState: ArchivedWord {}
extension Access: ArchivedWord {}
extension Ownership: ArchivedWord {}
extension Phase: ArchivedWord {}
extension Signal: ArchivedWord {}
extension Doubt: ArchivedWord {}
extension EndCause: ArchivedWord {}
extension GrantReason: ArchivedWord {}
extension RevokeReason: ArchivedWord {}
extension NoticeReason: ArchivedWord {}
extension Problem.Code: ArchivedWord {}

extension Clue: Archived {
    init(from archive: inout Archive) {
        guard let clue = Clue(text: archive.value()) else {
            archive.damage()
            self = .refund(of: "")
            return
        }
        self = clue
    }

    func write(to archive: inout Archive) { text.write(to: &archive) }
}
