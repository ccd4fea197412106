/// How long files and functions may be.
enum LengthRules {
    private static let fileLimit = 400
    private static let functionLimit = 70

    static let files = TidyRule(name: "length") { file in
        guard file.isSwift, file.isUnder(["Sources", "Tests"]) else { return [] }
        let count = file.text.hasSuffix("\n") ? file.lines.count - 1 : file.lines.count
        return count > fileLimit ? [(count, "has \(count) lines of \(fileLimit)")] : []
    }

    /// From the line with `func` or `init` to the brace that closes it: the formatter puts that one
    /// under the beginning of the first line.
    static let functions = TidyRule(name: "function length") { file in
        guard file.isSwift, file.isUnder(["Sources", "Tests"]) else { return [] }
        var open: [(line: Int, indent: Int)] = []
        var found: [(line: Int, what: String)] = []
        for (index, line) in file.lines.enumerated() where !line.trimmed.isEmpty {
            let indent = line.prefix { $0 == " " }.count
            if line.trimmed.hasPrefix("}") {
                while let last = open.last, last.indent >= indent {
                    open.removeLast()
                    let count = index - last.line + 1
                    guard last.indent == indent, count > functionLimit else { continue }
                    found.append((last.line + 1, "has \(count) lines of \(functionLimit)"))
                }
            } else {
                // One without a body, in a protocol.
                while let last = open.last, last.indent > indent { open.removeLast() }
                if isFunction(line) { open.append((index, indent)) }
            }
        }
        return found
    }

    private static func isFunction(_ line: Substring) -> Bool {
        for word in line.code.split(separator: " ") {
            if word == "func" || word.hasPrefix("init(") || word.hasPrefix("init?(") { return true }
            guard word.hasPrefix("@") || modifiers.contains(word) else { return false }
        }
        return false
    }

    private static let modifiers: Set<Substring> = [
        "package", "private", "fileprivate", "static", "final", "override", "mutating",
        "nonisolated", "convenience",
    ]
}
