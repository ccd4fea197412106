import Foundation

/// A reply of the simulator for a person: lists as tables, the rest as names and values.
enum Table {
    private static let cellLimit = 44

    /// Whether somebody looks at the output.
    static var isWanted: Bool { isatty(STDOUT_FILENO) == 1 }

    /// The reply as it came where it is no JSON object.
    static func text(ofJSON reply: String) -> String {
        guard let object = try? JSONSerialization.jsonObject(with: Data(reply.utf8)),
            let members = object as? [String: Any]
        else { return reply }
        var lines: [String] = []
        let isList = { (value: Any) in (value as? [[String: Any]])?.isEmpty == false }
        let plain = members.filter { !isList($0.value) }.sorted { $0.key < $1.key }
        let width = plain.map(\.key.count).max() ?? 0
        for (name, value) in plain { lines.append(padded(name, width) + "  " + cell(value)) }
        for (name, value) in members.sorted(by: { $0.key < $1.key }) where isList(value) {
            guard let rows = value as? [[String: Any]] else { continue }
            lines.append("")
            lines.append(name)
            lines += table(rows)
        }
        return lines.joined(separator: "\n")
    }

    private static func table(_ rows: [[String: Any]]) -> [String] {
        let found = Set(rows.flatMap(\.keys))
        // What it is called stands first.
        let names =
            ["id", "name"].filter(found.contains) + found.subtracting(["id", "name"]).sorted()
        let cells = [names] + rows.map { row in names.map { row[$0].map(cell) ?? "" } }
        let widths = names.indices.map { column in cells.map { $0[column].count }.max() ?? 0 }
        return cells.map { row in
            zip(row, widths).map { padded($0, $1) }.joined(separator: "  ")
        }
    }

    private static func cell(_ value: Any) -> String {
        let text: String
        switch value {
        case let word as String: text = word
        case is NSNull: text = "-"
        case let number as NSNumber: text = number.description
        default:
            let data = try? JSONSerialization.data(
                withJSONObject: value, options: [.sortedKeys, .fragmentsAllowed])
            text = data.map { String(decoding: $0, as: UTF8.self) } ?? ""
        }
        return text.count > cellLimit ? text.prefix(cellLimit - 1) + "…" : text
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}
