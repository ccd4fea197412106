import Renewal

/// JSON in one pass and one list of its values, of which only what is asked for is made into
/// anything: for answers that are read at each check. `JSON.decode` reads the rest.
///
/// Stricter than it must be: a member that is there twice cannot be read.
///
/// <https://www.rfc-editor.org/rfc/rfc8259>
struct JSONTree: Sendable {
    let bytes: [UInt8]
    let nodes: [Node]

    /// One value, or the name of a member, which stands before its value.
    struct Node {
        let kind: Kind
        /// Of a text: between its quotation marks.
        let start: Int
        var end: Int
        /// The node after the last one within this one.
        var next: Int
    }

    enum Kind: UInt8 {
        case object, array, text, escapedText, number, yes, no, null
    }

    /// Fails with `.malformed`, calling it `whole`, when it is not JSON in UTF-8, or is nested too
    /// deeply. A byte order mark before it is passed over.
    init(_ bytes: [UInt8], calling whole: String = "body") throws(StoreFailure) {
        var scanner = Scanner(bytes)
        guard scanner.scanDocument() else { throw .malformed(field: whole) }
        self.bytes = bytes
        nodes = scanner.nodes
    }

    /// The members and elements that lead to a value, such as `lineItems.[0].prepaidPlan`.
    func path(to node: Int) -> String {
        var steps: [String] = []
        var place = 0
        while place != node {
            let isObject = nodes[place].kind == .object
            var child = place + 1
            var value: Int { isObject ? child + 1 : child }
            var index = 0
            while nodes[value].next <= node {
                child = nodes[value].next
                index += 1
            }
            let name = nodes[child]
            steps.append(
                isObject
                    ? String(decoding: bytes[name.start..<name.end], as: UTF8.self) : "[\(index)]")
            place = value
        }
        return steps.joined(separator: ".")
    }

    private struct Scanner {
        let bytes: [UInt8]
        var nodes: [Node] = []
        private var place = 0
        private var isASCII = true

        static let depthLimit = 64
        private static let expectedNodes = 256
        private static let byteOrderMark: [UInt8] = [0xef, 0xbb, 0xbf]

        init(_ bytes: [UInt8]) {
            self.bytes = bytes
            nodes.reserveCapacity(min(bytes.count / 10 + 1, Self.expectedNodes))
        }

        mutating func scanDocument() -> Bool {
            if bytes.starts(with: Self.byteOrderMark) { place = Self.byteOrderMark.count }
            guard scanValue(depth: 0) else { return false }
            skipBlanks()
            guard place == bytes.count else { return false }
            return isASCII || String(validating: bytes, as: UTF8.self) != nil
        }

        private var current: UInt8? { place < bytes.count ? bytes[place] : nil }

        private mutating func skipBlanks() {
            while let byte = current, byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 {
                place += 1
            }
        }

        private mutating func take(_ byte: UInt8) -> Bool {
            guard current == byte else { return false }
            place += 1
            return true
        }

        private mutating func scanValue(depth: Int) -> Bool {
            skipBlanks()
            switch current {
            case UInt8(ascii: "\""): return scanText()
            case UInt8(ascii: "{"): return scanMembers(depth: depth)
            case UInt8(ascii: "["): return scanElements(depth: depth)
            case UInt8(ascii: "t"): return scan("true", .yes)
            case UInt8(ascii: "f"): return scan("false", .no)
            case UInt8(ascii: "n"): return scan("null", .null)
            default: return scanNumber()
            }
        }

        private mutating func scan(_ word: String, _ kind: Kind) -> Bool {
            let start = place
            for byte in word.utf8 where !take(byte) { return false }
            add(kind, from: start, to: place)
            return true
        }

        private mutating func add(_ kind: Kind, from start: Int, to end: Int) {
            nodes.append(Node(kind: kind, start: start, end: end, next: nodes.count + 1))
        }

        /// Closes the node that was opened as number `node`.
        private mutating func close(_ node: Int) -> Bool {
            nodes[node].end = place
            nodes[node].next = nodes.count
            return true
        }

        private mutating func scanMembers(depth: Int) -> Bool {
            guard depth < Self.depthLimit else { return false }
            let node = nodes.count
            add(.object, from: place, to: place)
            place += 1
            skipBlanks()
            if take(UInt8(ascii: "}")) { return close(node) }
            repeat {
                skipBlanks()
                guard scanText() else { return false }
                skipBlanks()
                guard take(UInt8(ascii: ":")), scanValue(depth: depth + 1) else { return false }
                skipBlanks()
            } while take(UInt8(ascii: ","))
            return take(UInt8(ascii: "}")) && close(node)
        }

        private mutating func scanElements(depth: Int) -> Bool {
            guard depth < Self.depthLimit else { return false }
            let node = nodes.count
            add(.array, from: place, to: place)
            place += 1
            skipBlanks()
            if take(UInt8(ascii: "]")) { return close(node) }
            repeat {
                guard scanValue(depth: depth + 1) else { return false }
                skipBlanks()
            } while take(UInt8(ascii: ","))
            return take(UInt8(ascii: "]")) && close(node)
        }

        private mutating func scanText() -> Bool {
            guard take(UInt8(ascii: "\"")) else { return false }
            let start = place
            var kind = Kind.text
            while place < bytes.count {
                let byte = bytes[place]
                place += 1
                switch byte {
                case UInt8(ascii: "\""):
                    add(kind, from: start, to: place - 1)
                    return true
                case UInt8(ascii: "\\"):
                    kind = .escapedText
                    guard scanEscape() else { return false }
                case 0..<0x20: return false
                case 0x80...: isASCII = false
                default: break
                }
            }
            return false
        }

        private mutating func scanEscape() -> Bool {
            guard let byte = current else { return false }
            place += 1
            if byte != UInt8(ascii: "u") { return "\"\\/bfnrt".utf8.contains(byte) }
            for _ in 0..<4 {
                guard let digit = current, HexDigit.value(digit) != nil else { return false }
                place += 1
            }
            return true
        }

        private mutating func scanNumber() -> Bool {
            let start = place
            _ = take(UInt8(ascii: "-"))
            if !take(UInt8(ascii: "0")) {
                guard scanDigits() else { return false }
            }
            if take(UInt8(ascii: ".")) {
                guard scanDigits() else { return false }
            }
            if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
                _ = take(UInt8(ascii: "+")) || take(UInt8(ascii: "-"))
                guard scanDigits() else { return false }
            }
            add(.number, from: start, to: place)
            return true
        }

        private mutating func scanDigits() -> Bool {
            let start = place
            while let byte = current, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") {
                place += 1
            }
            return place > start
        }
    }
}

enum HexDigit {
    static func value(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
