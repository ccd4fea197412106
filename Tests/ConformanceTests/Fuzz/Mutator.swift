import Foundation
import TestSupport

/// Makes new inputs out of good ones: bits, pieces, members of JSON, depth. The same generator
/// gives the same inputs.
struct Mutator {
    private let seeds: [[UInt8]]
    private var generator: SeededGenerator

    init(_ seeds: [[UInt8]], with generator: SeededGenerator) {
        precondition(!seeds.isEmpty, "there is something to mutate")
        self.seeds = seeds
        self.generator = generator
    }

    /// - Returns: the input, and the seed that it was made of.
    mutating func next() -> (input: [UInt8], seed: [UInt8]) {
        let seed = pick(seeds)
        var bytes = seed
        if below(2) == 0, let changed = changedMember(of: bytes) { bytes = changed }
        for _ in 0..<below(4) where !bytes.isEmpty { mutate(&bytes) }
        return (bytes, seed)
    }

    private mutating func mutate(_ bytes: inout [UInt8]) {
        let place = below(bytes.count)
        let length = min(1 + below(24), bytes.count - place)
        switch below(10) {
        case 0: bytes[place] ^= 1 << UInt8(below(8))
        case 1: bytes[place] = UInt8(below(256))
        case 2: bytes.removeSubrange(place..<(place + length))
        case 3: bytes.insert(contentsOf: bytes[place..<(place + length)], at: place)
        case 4: bytes.removeSubrange(place...)
        case 5: bytes.replaceSubrange(place..<(place + length), with: piece())
        case 6: bytes.insert(contentsOf: piece(), at: place)
        case 7: bytes.insert(contentsOf: repeated(), at: place)
        case 8: crossWithAnother(&bytes, from: place)
        default: bytes.swapAt(place, below(bytes.count))
        }
    }

    private mutating func crossWithAnother(_ bytes: inout [UInt8], from place: Int) {
        let other = pick(seeds)
        guard !other.isEmpty else { return }
        let start = below(other.count)
        bytes = Array(bytes[..<place]) + other[start...]
    }

    private mutating func piece() -> [UInt8] { Array(pick(Self.pieces).utf8) }

    private static let pieces = [
        "null", "true", "{}", "[]", "\"\"", "-1", "0", "1e400", "9223372036854775808", "1.5",
        "-9223372036854775808", "\"\\u0000\"", "\\ud800", "}", "]", ",", ":", "\u{0}", "é", ".",
        "..", "=", "%", "&", "0000-00-00T00:00:00Z", "2026-02-30T25:61:61Z", "9999999999999",
    ]

    /// Deep nesting, or a long run of one byte.
    private mutating func repeated() -> [UInt8] {
        let text = pick(["[", "{\"a\":", "(", "0", "\u{30}\u{80}", " ", "\\", "\"", "A", "9"])
        return Array(String(repeating: text, count: 1 << (4 + below(9))).utf8)
    }

    /// Another value for one member of JSON, at any depth; nil when there is no JSON.
    private mutating func changedMember(of bytes: [UInt8]) -> [UInt8]? {
        guard let value = try? JSONSerialization.jsonObject(with: Data(bytes)) else { return nil }
        let changed = change(value)
        guard JSONSerialization.isValidJSONObject(changed) else { return nil }
        return (try? JSONSerialization.data(withJSONObject: changed, options: [.sortedKeys]))
            .map { Array($0) }
    }

    private mutating func change(_ value: Any) -> Any {
        if var members = value as? [String: Any], !members.isEmpty {
            let name = pick(members.keys.sorted())
            switch below(6) {
            case 0: members[name] = nil
            case 1: members[name] = strange()
            case 2: members[pick(members.keys.sorted())] = members[name]
            default: members[name] = members[name].map { change($0) }
            }
            return members
        }
        if var items = value as? [Any], !items.isEmpty {
            let place = below(items.count)
            switch below(5) {
            case 0: items.remove(at: place)
            case 1: items.append(contentsOf: items)
            case 2: items[place] = strange()
            default: items[place] = change(items[place])
            }
            return items
        }
        if let number = value as? Int64 { return near(number) }
        if let text = value as? String, !text.isEmpty, below(2) == 0 {
            var bytes = Array(text.utf8)
            mutate(&bytes)
            return String(decoding: bytes, as: UTF8.self)
        }
        return strange()
    }

    private mutating func near(_ number: Int64) -> Any {
        switch below(5) {
        case 0: return number &+ 1
        case 1: return number &* 1000
        case 2: return -number
        case 3: return String(number)
        default: return number / 1000
        }
    }

    private mutating func strange() -> Any {
        switch below(12) {
        case 0: return NSNull()
        case 1: return true
        case 2: return 0
        case 3: return -1
        case 4: return Int64.max
        case 5: return Int64.min
        case 6: return 1.5
        case 7: return ""
        case 8: return String(repeating: "9", count: 1 + below(40))
        case 9: return [Any]()
        case 10: return [String: Any]()
        default: return [["a": [NSNull()]]]
        }
    }

    private mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[below(elements.count)]
    }

    private mutating func below(_ bound: Int) -> Int {
        bound < 2 ? 0 : Int(generator.next() % UInt64(bound))
    }
}
