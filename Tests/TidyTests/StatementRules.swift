/// What a statement must not do, and PostgreSQL finds out only when two sessions meet.
enum StatementRules {
    /// Where another session has changed a row meanwhile, PostgreSQL tries the conditions of an
    /// `UPDATE` again. One that reads a part that writes, such as `WITH a AS (INSERT …)`, fails then
    /// unless the part was read to its end before. What is joined is not read again, and what
    /// depends on no row is read once.
    static let rereading = TidyRule(name: "SQL that writes") { file in
        guard file.path.hasSuffix(".sql"), file.isUnder(["Sources/Ledger/Queries"]) else {
            return []
        }
        let sql = file.lines.map { $0.prefix(before: "--") }.joined(separator: "\n")
        let parts = parts(of: sql)
        var writers: Set<Substring> = []
        for part in parts
        where part.body.contains(#/^\s*(INSERT|UPDATE|DELETE)\b/#)
            || !names(readIn: part.body).isDisjoint(with: writers)
        {
            writers.insert(part.name)
        }
        let last = sql[(parts.last?.body.endIndex ?? sql.startIndex)...]
        return (parts.map(\.body) + [last])
            .filter { $0.contains(#/^[\s)]*(UPDATE|DELETE)\b|FOR (NO KEY )?UPDATE/#) }
            .flatMap { body in
                body.matches(of: #/\(\s*SELECT\b/#).compactMap { match in
                    let inner = enclosed(in: body, from: match.range.lowerBound)
                    guard inner.contains("WHERE"),
                        let name = names(readIn: inner).intersection(writers).min()
                    else { return nil }
                    let line = sql[..<match.range.lowerBound].count { $0 == "\n" } + 1
                    return (line, "looks into \(name), which writes, for each row: join it")
                }
            }
    }

    /// The parts of a statement that have names.
    static func parts(of sql: String) -> [(name: Substring, body: Substring)] {
        sql.matches(of: #/(\w+) AS (?:NOT )?(?:MATERIALIZED )?(?=\()/#).map { match in
            (match.1, enclosed(in: sql[...], from: match.range.upperBound))
        }
    }

    /// What is between the bracket at an index and the one that closes it.
    static func enclosed(in text: Substring, from start: String.Index) -> Substring {
        var depth = 0
        for index in text[start...].indices {
            if text[index] == "(" { depth += 1 }
            if text[index] == ")" { depth -= 1 }
            if depth == 0 { return text[text.index(after: start)..<index] }
        }
        return text[start...]
    }

    private static func names(readIn text: Substring) -> Set<Substring> {
        Set(text.matches(of: #/\b(?:FROM|JOIN|USING)\s+(\w+)/#).map(\.1))
    }
}

extension Substring {
    func prefix(before mark: String) -> Substring {
        firstRange(of: mark).map { self[..<$0.lowerBound] } ?? self
    }
}
