import Explain
import Daemon

/// A line of `renewald status` with its tone, for a terminal that shows colours.
enum StatusLine {
    /// Rows that are there only when something is not well.
    private static let troubles = ["problem", "blocked", "paused", "set aside"]

    /// Takes the heading of an app, or a row with its name two columns in.
    static func toned(_ line: String) -> TextLine {
        guard line.hasPrefix("  ") else {
            let isTrouble = line.hasPrefix("no worker") || line.contains(" in a row: ")
            let isHeading = !line.contains(":") && !line.hasPrefix("as of ")
            return TextLine("", line, tone: isTrouble ? .bad : isHeading ? .title : .plain)
        }
        let isOpen = line.hasPrefix("  circuit       open")
        let isTrouble = isOpen || troubles.contains { line.dropFirst(2).hasPrefix($0) }
        return TextLine("  ", String(line.dropFirst(2)), tone: isTrouble ? .bad : .plain)
    }
}
