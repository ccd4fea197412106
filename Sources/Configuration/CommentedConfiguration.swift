extension ConfigurationSection {
    /// The text of `etc/renewald.toml`: every table, every key with its default, commented out.
    ///
    /// Keys are commented with a bare `#`, explanations with `# `, so that both stay apart.
    package static func commentedFile() -> String {
        let head = """
            # The configuration of renewald: every key with its default, or an example.
            # Remove the # before a key (and before its [[table]]) to change it.
            # Durations are ISO 8601: PT0.5S, PT10M, PT1H, P30D, P4W.
            # A secret is "credential:NAME" (systemd's LoadCredential=), "file:/path" or "env:NAME".
            """
        return ([head] + all.map(\.commented)).joined(separator: "\n\n") + "\n"
    }

    /// What a reload changes, as a table of `docs/operations.md`.
    package static func reloadTable() -> String {
        let rows = all.reduce(into: [(header: String, keys: [ConfigurationKey])]()) {
            rows, section in
            if rows.last?.header == section.header {
                rows[rows.count - 1].keys += section.keys
            } else {
                rows.append((section.header, section.keys))
            }
        }
        let head = ["| table | at once | after a restart |", "| --- | --- | --- |"]
        let lines = rows.map { header, keys in
            "| `\(header)` | \(names(in: keys, .live)) | \(names(in: keys, .restart)) |"
        }
        return (head + lines).joined(separator: "\n") + "\n"
    }

    private static func names(
        in keys: [ConfigurationKey], _ effect: ConfigurationKey.Effect
    ) -> String {
        let names = keys.filter { $0.effect == effect }.map { "`\($0.name)`" }
        return names.count == keys.count ? "all" : names.joined(separator: ", ")
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
        case .text, .secret, .connection, .file, .origin, .address, .listen, .boolean, .list,
            .secrets:
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
