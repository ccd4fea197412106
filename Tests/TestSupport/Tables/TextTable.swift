/// A table written as text: one line a row, cells separated by two or more spaces, so that a cell
/// may hold single spaces. The first line is the head.
package struct TextTable: Sendable {
    /// The cells of the first line.
    package let head: [String]
    /// The cells of the other lines, as many as the head has.
    package let rows: [[String]]

    /// - Parameter text: empty lines and lines that begin with `#` are left out.
    package init(_ text: String) {
        let lines = text.split(separator: "\n").map(Self.cells)
            .filter { !$0.isEmpty && $0[0].first != "#" }
        head = lines.first ?? []
        rows = Array(lines.dropFirst())
        for row in rows {
            precondition(row.count == head.count, "a row has other columns than the head: \(row)")
        }
    }

    /// The rows by the names of the head.
    package var records: [[String: String]] {
        rows.map { Dictionary(zip(head, $0), uniquingKeysWith: { first, _ in first }) }
    }

    /// The cells of one line.
    package static func cells(_ line: some StringProtocol) -> [String] {
        var cells: [String] = []
        var cell = ""
        var spaces = 0
        for character in line {
            if character == " " {
                spaces += 1
                continue
            }
            if spaces >= 2, !cell.isEmpty {
                cells.append(cell)
                cell = ""
            } else if spaces == 1, !cell.isEmpty {
                cell += " "
            }
            spaces = 0
            cell.append(character)
        }
        return cell.isEmpty ? cells : cells + [cell]
    }
}

/// The rows of a text table without its head, for `@Test(arguments:)`.
package func rows(_ text: String) -> [[String]] {
    TextTable(text).rows
}
