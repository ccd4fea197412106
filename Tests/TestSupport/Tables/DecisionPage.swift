/// How `docs/decisions.md` shows the cells of a table.
package enum DecisionPage {
    /// The part below it is made by `ConformanceTests`, the part above by `RenewalTests`.
    package static let mark = "<!-- From here on written by ConformanceTests. -->\n"

    package static func code(_ cell: some StringProtocol) -> String { "`\(cell)`" }

    package static func row(_ cells: [String]) -> String {
        "| " + cells.joined(separator: " | ") + " |\n"
    }

    /// `+purchased` is a grant, `-expired:gold` a revoke of gold, `!clock` a problem, other words
    /// are notices; what is told to bob has `bob` before it.
    package static func told(_ cell: String) -> String {
        guard cell != "-" else { return cell }
        return cell.split(separator: " ").map { told in
            let isBobs = told.hasPrefix("bob")
            return (isBobs ? "to bob: " : "") + one(told.dropFirst(isBobs ? 3 : 0))
        }.joined(separator: ", ")
    }

    private static func one(_ word: Substring) -> String {
        let rest = word.dropFirst().split(separator: ":").map(code).joined(separator: " of ")
        return switch word.first {
        case "+": "**grant** " + rest
        case "-": "**revoke** " + rest
        case "!": "problem " + rest
        default: "notice " + code(word)
        }
    }
}
