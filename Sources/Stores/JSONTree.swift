import Renewal

/// JSON in one pass and one list of its values, of which only what is asked for is made into
/// anything: for answers that are read at each check. `JSON.decode` reads the rest.
///
/// Stricter than it must be: a member that is there twice cannot be read.
///
/// <https://www.rfc-editor.org/rfc/rfc8259>
struct JSONTree: Sendable {
    fileprivate let bytes: [UInt8]
    fileprivate let nodes: [Node]

    /// One value, or the name of a member, which stands before its value.
    fileprivate struct Node {
        let kind: Kind
        /// Of a text: between its quotation marks.
        let start: Int
        var end: Int
        /// The node after the last one within this one.
        var next: Int
    }

    fileprivate enum Kind: UInt8 {
        case object, array, text, escapedText, number, yes, no, null
    }

    /// Fails with `.malformed`, calling it a body, when the whole is not JSON in UTF-8, or is
    /// nested too deeply.
    init(_ bytes: [UInt8]) throws(StoreFailure) {
        var scanner = Scanner(bytes)
        guard scanner.scanDocument() else { throw .malformed(field: "body") }
        self.bytes = bytes
        nodes = scanner.nodes
    }

    private struct Scanner {
        let bytes: [UInt8]
        var nodes: [Node] = []
        private var place = 0
        private var isASCII = true

        static let depthLimit = 64

        init(_ bytes: [UInt8]) {
            self.bytes = bytes
            nodes.reserveCapacity(bytes.count / 10 + 1)
        }

        mutating func scanDocument() -> Bool {
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

/// An object of a tree. What is missing and what is null are the same: nil.
///
/// What it throws is `.malformed` with the path to the member that is of another type.
struct JSONObject: Sendable {
    private let tree: JSONTree
    private let node: Int
    private let path: String

    /// The whole document.
    init(_ tree: JSONTree) throws(StoreFailure) {
        guard tree.nodes[0].kind == .object else { throw .malformed(field: "body") }
        self.init(tree, node: 0, path: "")
    }

    private init(_ tree: JSONTree, node: Int, path: String) {
        self.tree = tree
        self.node = node
        self.path = path
    }

    func text(_ name: String) throws(StoreFailure) -> String? {
        guard let found = try find(name) else { return nil }
        return try text(at: found, calling: name)
    }

    private func text(
        at place: Int, calling name: String
    ) throws(StoreFailure) -> String {
        let value = tree.nodes[place]
        switch value.kind {
        case .text:
            return String(decoding: tree.bytes[value.start..<value.end], as: UTF8.self)
        case .escapedText:
            guard let text = JSONText.unescaped(tree.bytes[value.start..<value.end]) else {
                throw .malformed(field: field(name))
            }
            return text
        case .object, .array, .number, .yes, .no, .null: throw .malformed(field: field(name))
        }
    }

    /// A whole number, in quotes or not.
    func integer(_ name: String) throws(StoreFailure) -> Int64? {
        guard let found = try find(name) else { return nil }
        let value = tree.nodes[found]
        switch value.kind {
        case .number, .text:
            let text = String(decoding: tree.bytes[value.start..<value.end], as: UTF8.self)
            guard let number = Int64(text) else { throw .malformed(field: field(name)) }
            return number
        case .object, .array, .escapedText, .yes, .no, .null: throw .malformed(field: field(name))
        }
    }

    func id<ID: Identity>(_ name: String) throws(StoreFailure) -> ID? {
        try text(name).map(ID.init)
    }

    func flag(_ name: String) throws(StoreFailure) -> Bool? {
        guard let found = try find(name) else { return nil }
        switch tree.nodes[found].kind {
        case .yes: return true
        case .no: return false
        case .object, .array, .text, .escapedText, .number, .null:
            throw .malformed(field: field(name))
        }
    }

    /// The elements of an array of texts.
    func texts(_ name: String) throws(StoreFailure) -> [String]? {
        guard let found = try find(name) else { return nil }
        let array = tree.nodes[found]
        guard array.kind == .array else { throw .malformed(field: field(name)) }
        var texts: [String] = []
        var child = found + 1
        while child < array.next {
            texts.append(try text(at: child, calling: name))
            child = tree.nodes[child].next
        }
        return texts
    }

    /// Whether the member is there, whatever it is: `{}`, and `[]` where PHP has been at work.
    func has(_ name: String) throws(StoreFailure) -> Bool { try find(name) != nil }

    func object(_ name: String) throws(StoreFailure) -> JSONObject? {
        guard let found = try find(name) else { return nil }
        guard tree.nodes[found].kind == .object else { throw .malformed(field: field(name)) }
        return JSONObject(tree, node: found, path: field(name))
    }

    /// The elements of an array of objects.
    func objects(_ name: String) throws(StoreFailure) -> [JSONObject]? {
        guard let found = try find(name) else { return nil }
        let array = tree.nodes[found]
        guard array.kind == .array else { throw .malformed(field: field(name)) }
        var objects: [JSONObject] = []
        var child = found + 1
        while child < array.next {
            let element = JSONObject(tree, node: child, path: field(name) + ".[\(objects.count)]")
            guard tree.nodes[child].kind == .object else { throw .malformed(field: element.path) }
            objects.append(element)
            child = tree.nodes[child].next
        }
        return objects
    }

    private func field(_ name: String) -> String { path.isEmpty ? name : path + "." + name }

    /// Compared byte by byte: a name that is written with escapes is not found.
    private func find(_ name: String) throws(StoreFailure) -> Int? {
        let length = name.utf8.count
        var found: Int?
        var child = node + 1
        while child < tree.nodes[node].next {
            let key = tree.nodes[child]
            if key.end - key.start == length,
                tree.bytes[key.start..<key.end].elementsEqual(name.utf8)
            {
                guard found == nil else { throw .malformed(field: field(name)) }
                found = child + 1
            }
            child = tree.nodes[child + 1].next
        }
        return found.flatMap { tree.nodes[$0].kind == .null ? nil : $0 }
    }
}

private enum JSONText {
    /// - Returns: nil when half of a surrogate pair stands alone.
    static func unescaped(_ raw: ArraySlice<UInt8>) -> String? {
        var units: [UInt8] = []
        var rest = raw
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\"), let escape = rest.popFirst() else {
                units.append(byte)
                continue
            }
            guard escape == UInt8(ascii: "u") else {
                units.append(plain(escape))
                continue
            }
            guard let scalar = scalar(&rest) else { return nil }
            units += Array(String(scalar).utf8)
        }
        return String(decoding: units, as: UTF8.self)
    }

    private static func plain(_ escape: UInt8) -> UInt8 {
        switch escape {
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0c
        case UInt8(ascii: "n"): 0x0a
        case UInt8(ascii: "r"): 0x0d
        case UInt8(ascii: "t"): 0x09
        default: escape
        }
    }

    private static func scalar(_ rest: inout ArraySlice<UInt8>) -> Unicode.Scalar? {
        let first = codeUnit(&rest)
        guard first & 0xfc00 == 0xd800 else { return Unicode.Scalar(first) }
        guard rest.starts(with: "\\u".utf8) else { return nil }
        rest = rest.dropFirst(2)
        let second = codeUnit(&rest)
        guard second & 0xfc00 == 0xdc00 else { return nil }
        return Unicode.Scalar(0x10000 + (first & 0x3ff) << 10 + (second & 0x3ff))
    }

    private static func codeUnit(_ rest: inout ArraySlice<UInt8>) -> UInt32 {
        let digits = rest.prefix(4)
        rest = rest.dropFirst(4)
        return digits.reduce(0) { $0 << 4 | UInt32(HexDigit.value($1) ?? 0) }
    }
}

private enum HexDigit {
    static func value(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
