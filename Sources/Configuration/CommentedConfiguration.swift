extension ConfigurationSection {
    /// The text of `etc/renewald.toml`: every table, every key with its default, commented out.
    ///
    /// Keys are commented with a bare `#`, explanations with `# `, so that both stay apart.
    package static func commentedFile() -> String {
        let head = """
            # The configuration of renewald: every key with its default, or an example.
            # Take away the # before a key (and before its [[table]]) to change it.
            # Durations are ISO 8601: PT0.5S, PT10M, PT1H, P30D, P4W.
            # A secret is "credential:NAME" (systemd's LoadCredential=), "file:/path" or "env:NAME".
            """
        return ([head] + all.map(\.commented)).joined(separator: "\n\n") + "\n"
    }

    private var commented: String {
        var lines = sentence.commentLines
        lines.append(repeats ? "#\(header)" : header)
        for key in keys { lines += key.commented }
        return lines.joined(separator: "\n")
    }
}

extension ConfigurationKey {
    fileprivate var commented: [String] {
        let value: Literal
        let note: String
        switch presence {
        case .byDefault(let standard): (value, note) = (standard, "")
        case .optional(let meaning, let example): (value, note) = (example, "Default: \(meaning).")
        case .required(let example): (value, note) = (example, "Required.")
        }
        let range: String
        switch form {
        case .choice, .onOff: range = "One of \(form.range)."
        case .integer, .number, .duration: range = "\(form.range.sentenceCased)."
        case .text, .secret, .connection, .file, .origin, .address, .listen, .boolean, .list:
            range = ""
        }
        let remarks = [range, note].filter { !$0.isEmpty }.joined(separator: " ")
        return (sentence + "\n" + remarks).commentLines + ["#\(name) = \(value.node.literal)"]
    }
}

extension String {
    fileprivate var commentLines: [String] {
        split(separator: "\n").map { "# \($0)" }
    }

    fileprivate var sentenceCased: String {
        prefix(1).uppercased() + dropFirst()
    }
}
