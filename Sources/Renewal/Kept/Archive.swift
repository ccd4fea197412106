/// Values as bytes, and bytes as values again: what is kept of an observation and of a decision.
///
/// Whole numbers take seven bits a byte, texts begin with their length, and what may be missing
/// with 0 or 1. There are no names: the order of a format is fixed, and another one is another
/// format.
struct Archive {
    private(set) var bytes: [UInt8]
    /// Whether it gives values back. Otherwise it takes them.
    let isReading: Bool
    /// Whether all that was read was there and made sense.
    private(set) var isSound = true
    private var place = 0

    init() {
        bytes = []
        isReading = false
    }

    init(reading bytes: [UInt8]) {
        self.bytes = bytes
        isReading = true
    }

    /// Whether all was read, and nothing is left.
    var isComplete: Bool { isSound && place == bytes.count }

    /// Writes the value, or reads it.
    mutating func pass<Value: Archived>(_ value: inout Value) {
        if isReading { value = Value(from: &self) } else { value.write(to: &self) }
    }

    mutating func value<Value: Archived>() -> Value { Value(from: &self) }

    mutating func write(_ byte: UInt8) { bytes.append(byte) }

    /// What was read makes no sense: the rest is not read either.
    mutating func damage() {
        isSound = false
        place = bytes.count
    }

    /// Zero where there is none.
    mutating func byte() -> UInt8 {
        guard place < bytes.count else {
            damage()
            return 0
        }
        defer { place += 1 }
        return bytes[place]
    }

    mutating func take(_ count: Int) -> ArraySlice<UInt8> {
        guard count >= 0, count <= bytes.count - place else {
            damage()
            return []
        }
        defer { place += count }
        return bytes[place..<place + count]
    }

    mutating func write(count: Int) { write(number: UInt64(count)) }

    /// Of elements that follow: never more than there are bytes left.
    mutating func count() -> Int {
        let count = number()
        guard count <= UInt64(bytes.count - place) else {
            damage()
            return 0
        }
        return Int(count)
    }

    mutating func write(number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    mutating func number() -> UInt64 {
        var number: UInt64 = 0
        for shift in stride(from: UInt64(0), through: 63, by: 7) {
            let next = byte()
            number |= UInt64(next & 0x7F) << shift
            if next < 0x80 { return number }
        }
        damage()
        return 0
    }

    /// Told apart from other bytes: FNV-1a, 64 bits.
    static func mark(_ bytes: [UInt8], _ version: Int64) -> Int64 {
        var mark: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in bytes { mark = (mark ^ UInt64(byte)) &* 0x100_0000_01B3 }
        var rest = UInt64(bitPattern: version)
        for _ in 0..<8 {
            mark = (mark ^ (rest & 0xFF)) &* 0x100_0000_01B3
            rest >>= 8
        }
        return Int64(bitPattern: mark)
    }
}

/// What an archive takes and gives back.
protocol Archived {
    init(from archive: inout Archive)
    func write(to archive: inout Archive)
}

/// What is passed field by field, in one list for both ways.
protocol ArchivedFields: Archived {
    static var blank: Self { get }
    mutating func pass(through archive: inout Archive)
}

extension ArchivedFields {
    init(from archive: inout Archive) {
        self = .blank
        pass(through: &archive)
    }

    func write(to archive: inout Archive) {
        var copy = self
        copy.pass(through: &archive)
    }
}

/// One of our own words, by its place among them: a new word comes last.
protocol ArchivedWord: Archived, CaseIterable, Equatable {}

extension ArchivedWord {
    init(from archive: inout Archive) {
        let words = Array(Self.allCases)
        let place = Int(archive.byte())
        if place >= words.count { archive.damage() }
        self = words[place < words.count ? place : 0]
    }

    func write(to archive: inout Archive) {
        let place = Array(Self.allCases).firstIndex(of: self) ?? 0
        archive.write(UInt8(truncatingIfNeeded: place))
    }
}
