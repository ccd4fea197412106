/// The text of a statement, as a file of `Queries` has it and as the server takes it.
///
/// - `{claim_columns}` and the like stand for what several statements share.
/// - `unnest($rows) AS next (shard int2, id int8)` takes an array for each column, by its name.
/// - `$columns` are the names of those columns, for an INSERT.
/// - `$worker` takes a value, by its name.
struct StatementText {
    /// With `$1`, `$2` and so on.
    let sql: String
    /// The names of those; empty where the file itself counts them.
    let names: [String]

    init(_ file: [UInt8]) {
        var reading = Reading(Self.shared(in: String(decoding: file, as: UTF8.self)))
        reading.takeRows()
        sql = reading.numbered()
        names = reading.names
    }

    /// What stands in braces, put in its place; it may have more of them in it.
    private static func shared(in text: String) -> String {
        let pieces = text.pieces(from: "{")
        return pieces.dropFirst().reduce(into: String(pieces[0])) { text, piece in
            guard let close = piece.firstIndex(of: "}"), let part = part(named: piece[..<close])
            else { return text += "{" + piece }
            text += shared(in: part) + piece[piece.index(after: close)...]
        }
    }

    /// Nil for braces of SQL's own.
    private static func part(named name: Substring) -> String? {
        switch name {
        case "claim_columns": part(PackageResources.claim_columns_sql)
        case "kept_columns": part(PackageResources.kept_columns_sql)
        case "kept_parts": part(PackageResources.kept_parts_sql)
        case "purchase_columns": part(PackageResources.purchase_columns_sql)
        case "fact_columns": FactColumn.selected
        case "fact_types": FactColumn.declared
        case "fact_values": FactColumn.converted
        case "fact_changes": FactColumn.assigned
        case "due": "schedule.due_at <= now() AND schedule.crashes = 0"
        default: nil
        }
    }

    /// Without the comment that it begins with.
    private static func part(_ file: [UInt8]) -> String {
        String(decoding: file, as: UTF8.self).pieces(from: "\n")
            .filter { !$0.isEmpty && !$0.hasPrefix("--") }.joined(separator: "\n")
    }
}

extension String {
    /// What is between any two of `mark`, which is ASCII. By bytes: some ten times as fast as by
    /// characters, and each program that starts does it to all its statements.
    fileprivate func pieces(from mark: Unicode.Scalar) -> [Substring] {
        utf8.split(separator: UInt8(ascii: mark), omittingEmptySubsequences: false)
            .map(Substring.init)
    }
}

private struct Reading {
    /// What comes before the first dollar, and what follows each.
    private var pieces: [Substring]
    private(set) var names: [String] = []
    /// For an INSERT; nil without rows.
    private var columns: String?

    init(_ text: String) {
        pieces = text.pieces(from: "$")
    }

    /// The columns in brackets after `unnest($rows)` have types, unless they are none of ours, as
    /// that of WITH ORDINALITY.
    mutating func takeRows() {
        guard let index = pieces.dropFirst().firstIndex(where: { $0.hasPrefix("rows)") }),
            let open = pieces[index].firstIndex(of: "("),
            let close = pieces[index][open...].firstIndex(of: ")")
        else { return }
        let piece = pieces[index]
        var columns: [Substring] = []
        var arrays: [String] = []
        for column in piece[piece.index(after: open)..<close].split(separator: ",") {
            let words = column.split(whereSeparator: \.isWhitespace)
            guard let name = words.first else { continue }
            columns.append(name)
            guard words.count > 1 else { continue }
            names.append(String(name))
            arrays.append("\(names.count)::\(words[1])[]")
        }
        let between = piece[piece.index(piece.startIndex, offsetBy: 4)...open]
        pieces[index] = Substring(
            arrays.joined(separator: ", $") + between + columns.joined(separator: ", ")
                + piece[close...])
        self.columns = names.joined(separator: ", ")
    }

    /// The whole text: names behind a dollar become numbers.
    mutating func numbered() -> String {
        var text = String(pieces[0])
        for piece in pieces.dropFirst() {
            let name = piece.prefix { $0.isLetter || $0 == "_" }
            let rest = piece[name.endIndex...]
            if name.isEmpty {
                text += "$" + piece
            } else if name == "columns", let columns {
                text += columns + rest
            } else {
                text += "$\(number(of: String(name)))" + rest
            }
        }
        return text
    }

    private mutating func number(of name: String) -> Int {
        if let index = names.firstIndex(of: name) { return index + 1 }
        names.append(name)
        return names.count
    }
}
