/// One SQL statement with its parameters `$1`, `$2` and so on.
package struct PostgresStatement: Sendable {
    /// The text of one statement, its names schema-qualified: the search path is `pg_catalog`.
    package let sql: String
    /// The values of `$1` onwards.
    package let parameters: [PostgresValue]
    /// Under this name the statement is prepared once for each connection, then reused; nil sends
    /// its text each time.
    package let name: String?
    /// Whether the values come as the server prints them, and not in binary.
    var givesText = false
    private let declaredReadOnly: Bool?

    /// - Parameters:
    ///   - sql: the text of one statement.
    ///   - parameters: the values of `$1` onwards.
    ///   - name: non-nil to keep it prepared.
    ///   - isReadOnly: nil to judge by the text: a statement that begins with SELECT, SHOW, TABLE,
    ///     VALUES or WITH and has no writing keyword. Say false for a SELECT of a function that
    ///     writes.
    package init(
        _ sql: String, _ parameters: [PostgresValue] = [], name: String? = nil,
        isReadOnly: Bool? = nil
    ) {
        self.sql = sql
        self.parameters = parameters
        self.name = name
        declaredReadOnly = isReadOnly
    }

    /// Whether it changes nothing, so that a connection lost in the middle of it is simply
    /// unreachable and never an unknown commit. Asked only after a loss: it reads the whole text.
    package var isReadOnly: Bool {
        declaredReadOnly ?? Self.looksReadOnly(sql)
    }

    /// The same without its parameters: what is left tells whether it writes.
    var withoutValues: PostgresStatement {
        PostgresStatement(sql, name: name, isReadOnly: declaredReadOnly)
    }

    /// Errs towards writing: a writing keyword anywhere, also in a comment or a literal, counts.
    static func looksReadOnly(_ sql: String) -> Bool {
        let words = withoutComments(sql).split { !($0.isLetter || $0 == "_" || $0.isNumber) }
            .map { $0.lowercased() }
        guard let first = words.first else { return false }
        guard ["select", "show", "table", "values", "with"].contains(first) else { return false }
        let writing: Set = [
            "insert", "update", "delete", "merge", "into", "call", "nextval", "setval", "submit",
            "pg_notify",
        ]
        return words.allSatisfy { !writing.contains($0) }
    }

    /// Drops `--` comments, which our SQL files begin with.
    private static func withoutComments(_ sql: String) -> String {
        sql.split(separator: "\n").map { line in
            var previous: Character?
            guard
                let dash = line.indices.first(where: { index in
                    defer { previous = line[index] }
                    return line[index] == "-" && previous == "-"
                })
            else { return String(line) }
            return String(line[..<line.index(before: dash)])
        }.joined(separator: "\n")
    }
}
