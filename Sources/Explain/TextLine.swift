/// A line for the terminal, which may need more than one there: what does not fit goes on below,
/// under the beginning of the text.
package struct TextLine: Hashable, Sendable {
    package enum Tone: Hashable, Sendable {
        case plain, title, good, bad, quiet
    }

    /// Stands before the text and is not wrapped.
    package let lead: String
    package let text: String
    package let tone: Tone

    package init(_ lead: String, _ text: String, tone: Tone = .plain) {
        self.lead = lead.unsteered
        self.text = text.unsteered
        self.tone = tone
    }

    package static let empty = TextLine("", "")

    /// The lines as they are printed: in so many columns, with colours where the terminal shows
    /// them. A longer word stays whole: it may have to be copied.
    package func printed(width: Int, isColoured: Bool) -> [String] {
        let indent = String(repeating: " ", count: lead.count)
        return wrapped(to: max(width - lead.count, 1)).enumerated().map { index, line in
            let shown = isColoured ? paint(line) : line
            return (index == 0 ? lead : indent) + shown
        }
    }

    /// The line in one piece, cut off where the window ends.
    package func cut(to width: Int, isColoured: Bool) -> String {
        let shown = String(text.prefix(max(width - lead.count, 0)))
        return String(lead.prefix(width)) + (isColoured ? paint(shown) : shown)
    }

    private func wrapped(to width: Int) -> [String] {
        var lines = [""]
        for word in text.split(separator: " ", omittingEmptySubsequences: false) {
            let line = lines[lines.count - 1]
            if line.isEmpty {
                lines[lines.count - 1] = String(word)
            } else if line.count + 1 + word.count <= width {
                lines[lines.count - 1] = line + " " + word
            } else {
                lines.append(String(word))
            }
        }
        return lines
    }

    private func paint(_ line: String) -> String {
        let code =
            switch tone {
            case .plain: ""
            case .title: "1"
            case .good: "32"
            case .bad: "31"
            case .quiet: "2"
            }
        return code.isEmpty || line.isEmpty ? line : "\u{1b}[\(code)m\(line)\u{1b}[0m"
    }
}

extension String {
    /// What came from outside cannot steer the terminal, nor begin a line of its own.
    package var unsteered: String {
        guard unicodeScalars.contains(where: \.steers) else { return self }
        var shown = String.UnicodeScalarView()
        for scalar in unicodeScalars { shown.append(scalar.steers ? "\u{fffd}" : scalar) }
        return String(shown)
    }
}

extension Unicode.Scalar {
    /// Whether it would move a cursor, start a command or turn the direction of writing.
    var steers: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: true
        default: false
        }
    }
}
