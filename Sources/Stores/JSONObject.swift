import Renewal

/// An object of a tree. What is missing and what is null are the same: nil.
///
/// What it throws is `.malformed` with the path to the member that is of another type.
struct JSONObject: Sendable {
    private let tree: JSONTree
    private let node: Int

    /// The whole document, called `whole` where it is none.
    init(_ body: [UInt8], calling whole: String = "body") throws(StoreFailure) {
        let tree = try JSONTree(body, calling: whole)
        guard tree.nodes[0].kind == .object else { throw .malformed(field: whole) }
        self.init(tree, node: 0)
    }

    private init(_ tree: JSONTree, node: Int) {
        self.tree = tree
        self.node = node
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
                throw failure(at: name)
            }
            return text
        case .object, .array, .number, .yes, .no, .null: throw failure(at: name)
        }
    }

    /// A whole number: in quotes or not, or a float that is one.
    func integer(_ name: String) throws(StoreFailure) -> Int64? {
        guard let found = try find(name) else { return nil }
        let value = tree.nodes[found]
        let text = String(decoding: tree.bytes[value.start..<value.end], as: UTF8.self)
        let number: Int64? =
            switch value.kind {
            case .number: Int64(text) ?? Double(text).flatMap(Int64.init(exactly:))
            case .text: Int64(text)
            case .object, .array, .escapedText, .yes, .no, .null: nil
            }
        guard let number else { throw failure(at: name) }
        return number
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
            throw failure(at: name)
        }
    }

    /// A switch that some senders write as text.
    func lenientFlag(_ name: String) throws(StoreFailure) -> Bool? {
        guard let found = try find(name), tree.nodes[found].kind == .text else {
            return try flag(name)
        }
        guard let flag = Bool(try text(at: found, calling: name)) else {
            throw failure(at: name)
        }
        return flag
    }

    /// The elements of an array of texts.
    func texts(_ name: String) throws(StoreFailure) -> [String]? {
        guard let found = try find(name) else { return nil }
        let array = tree.nodes[found]
        guard array.kind == .array else { throw failure(at: name) }
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

    /// Whether the member is there, if only as null.
    func names(_ name: String) throws(StoreFailure) -> Bool { try place(of: name) != nil }

    /// Whether some member's name starts with a capital letter.
    var hasCapitalisedNames: Bool {
        var child = node + 1
        while child < tree.nodes[node].next {
            let key = tree.nodes[child]
            if key.end > key.start, UInt8(ascii: "A")...UInt8(ascii: "Z") ~= tree.bytes[key.start] {
                return true
            }
            child = tree.nodes[child + 1].next
        }
        return false
    }

    func object(_ name: String) throws(StoreFailure) -> JSONObject? {
        guard let found = try find(name) else { return nil }
        guard tree.nodes[found].kind == .object else { throw failure(at: name) }
        return JSONObject(tree, node: found)
    }

    /// The elements of an array of objects.
    func objects(_ name: String) throws(StoreFailure) -> [JSONObject]? {
        guard let found = try find(name) else { return nil }
        let array = tree.nodes[found]
        guard array.kind == .array else { throw failure(at: name) }
        var objects: [JSONObject] = []
        var child = found + 1
        while child < array.next {
            guard tree.nodes[child].kind == .object else {
                throw .malformed(field: tree.path(to: child))
            }
            objects.append(JSONObject(tree, node: child))
            child = tree.nodes[child].next
        }
        return objects
    }

    /// What to throw where a member is missing, or is not what it must be.
    func failure(at name: String) -> StoreFailure { .malformed(field: field(name)) }

    private func field(_ name: String) -> String {
        node == 0 ? name : tree.path(to: node) + "." + name
    }

    private func find(_ name: String) throws(StoreFailure) -> Int? {
        try place(of: name).flatMap { tree.nodes[$0].kind == .null ? nil : $0 }
    }

    /// Compared byte by byte, and what is written with escapes as what it means.
    private func place(of name: String) throws(StoreFailure) -> Int? {
        let (nodes, bytes, utf8) = (tree.nodes, tree.bytes, name.utf8)
        let (every, text, wanted) = (nodes.span, bytes.span, utf8.span)
        let end = every[node].next
        var found: Int?
        var child = node + 1
        while child < end {
            let key = every[child]
            let isMeant =
                key.kind == .escapedText
                ? JSONText.unescaped(bytes[key.start..<key.end]).map { $0.utf8.elementsEqual(utf8) }
                    ?? false
                : text.extracting(key.start..<key.end).holds(wanted)
            if isMeant {
                guard found == nil else { throw failure(at: name) }
                found = child + 1
            }
            child = every[child + 1].next
        }
        return found
    }
}

extension Span<UInt8> {
    /// Whether the bytes are the same.
    fileprivate func holds(_ other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        for index in indices where self[index] != other[index] { return false }
        return true
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
