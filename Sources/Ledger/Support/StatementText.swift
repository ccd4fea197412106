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
        reading.takeValues()
        (sql, names) = (reading.text, reading.names)
    }

    /// What stands in braces, put in its place.
    private static func shared(in text: String) -> String {
        var text = text
        for (name, part) in [
            ("{claim_columns}", part(PackageResources.claim_columns_sql)),
            ("{kept_columns}", part(PackageResources.kept_columns_sql)),
            ("{purchase_columns}", part(PackageResources.purchase_columns_sql)),
            ("{fact_columns}", FactColumn.selected), ("{fact_types}", FactColumn.declared),
            ("{fact_changes}", FactColumn.assigned), ("{due_until}", "now()"),
        ] {
            while let found = text.firstRange(of: name) { text.replaceSubrange(found, with: part) }
        }
        return text
    }

    /// Without the comment that it begins with.
    private static func part(_ file: [UInt8]) -> String {
        String(decoding: file, as: UTF8.self).split(separator: "\n")
            .filter { !$0.hasPrefix("--") }.joined(separator: "\n")
    }
}

private struct Reading {
    private(set) var text: String
    private(set) var names: [String] = []

    init(_ text: String) {
        self.text = text
    }

    /// The columns in brackets after `unnest($rows)` have types, unless they are none of ours, as
    /// that of WITH ORDINALITY.
    mutating func takeRows() {
        let marker = "$rows"
        guard let rows = text.firstRange(of: marker),
            let open = text[rows.upperBound...].firstIndex(of: "("),
            let close = text[open...].firstIndex(of: ")")
        else { return }
        var columns: [Substring] = []
        var arrays: [String] = []
        for column in text[text.index(after: open)..<close].split(separator: ",") {
            let words = column.split(whereSeparator: \.isWhitespace)
            guard let name = words.first else { continue }
            columns.append(name)
            guard words.count > 1 else { continue }
            names.append(String(name))
            arrays.append("$\(names.count)::\(words[1])[]")
        }
        let (before, between) = (text[..<rows.lowerBound], text[rows.upperBound...open])
        let after = text[close...]
        text = [
            String(before), arrays.joined(separator: ", "), String(between),
            columns.joined(separator: ", "), String(after),
        ].joined().replacing("$columns", with: names.joined(separator: ", "))
    }

    /// Names behind a dollar become numbers.
    mutating func takeValues() {
        var parts = text.split(separator: "$", omittingEmptySubsequences: false)[...]
        var numbered = String(parts.popFirst() ?? "")
        for part in parts {
            let name = part.prefix { $0.isLetter || $0 == "_" }
            guard !name.isEmpty else {
                numbered += "$" + part
                continue
            }
            if !names.contains(String(name)) { names.append(String(name)) }
            let number = (names.firstIndex(of: String(name)) ?? 0) + 1
            numbered += "$\(number)" + part.dropFirst(name.count)
        }
        text = numbered
    }
}
