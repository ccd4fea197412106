import Foundation
import TestSupport

/// The cases of one store, read from a text under `Tables`.
///
/// A line `== Heading` begins a section, prose for readers below it. A line
/// `# sources | title | known | options` opens a case; `known` is `new`, or the answers that were
/// heard before, with their days, which are played without a look at what follows from them. The
/// lines below it are its steps: day, answer, what is seen in it, state and access, what is told,
/// when it is asked next.
struct CaseTable: Sendable {
    let name: String
    private(set) var sections: [Section] = []

    struct Section: Sendable {
        let title: String
        var prose: [String] = []
        var cases: [ConformanceCase] = []
    }

    var cases: [ConformanceCase] { sections.flatMap(\.cases) }

    static let amazon = CaseTable(named: "amazon")
    static let google = CaseTable(named: "google")
    static let apple = CaseTable(named: "apple")
    static let all = [amazon, google, apple]

    static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(
        path: "Tables")

    private init(named name: String) {
        self.name = name
        let file = Self.folder.appending(path: name + ".txt")
        guard let text = try? String(contentsOf: file, encoding: .utf8) else {
            preconditionFailure("there is no table \(name)")
        }
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) { read(line) }
    }

    private mutating func read(_ line: Substring) {
        if line.hasPrefix("== ") {
            sections.append(Section(title: String(line.dropFirst(3))))
        } else if line.hasPrefix("# ") {
            precondition(!sections.isEmpty, "a case before the first section: \(line)")
            let head = ConformanceCase(table: name, head: line.dropFirst(2))
            sections[sections.count - 1].cases.append(head)
        } else if !line.isEmpty {
            guard var last = sections.popLast() else { return }
            if last.cases.isEmpty {
                last.prose.append(String(line))
            } else {
                let step = ConformanceCase.Step(TextTable.cells(line))
                last.cases[last.cases.count - 1].steps.append(step)
            }
            sections.append(last)
        }
    }
}

/// One case: what was known, and what must follow from what is heard.
struct ConformanceCase: Sendable, CustomStringConvertible {
    let table: String
    /// Such as `5 #1`: section and row of the store's reference.
    let sources: [String]
    let title: String
    /// Day and answer, as the cells have them.
    let known: [(day: String, wire: String)]
    /// Such as `without key` or `policy refund=period_end`.
    let options: Words
    var steps: [Step] = []

    struct Step: Sendable {
        let day: String
        let wire: String
        /// What is seen, state and access, what is told, when it is asked next.
        let expected: [String]

        init(_ cells: [String]) {
            precondition(cells.count == 6, "a step has six cells: \(cells)")
            day = cells[0]
            wire = cells[1]
            expected = Array(cells[2...])
        }
    }

    init(table: String, head: Substring) {
        self.table = table
        let parts = head.split(separator: "|").map { TextTable.cells($0).joined(separator: " ") }
        precondition(parts.count >= 3, "sources, title, what is known: \(head)")
        sources = parts[0].split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        title = parts[1]
        let heard = parts[2] == "new" ? [] : parts[2].split(separator: "; ")
        known = heard.map { words in
            let halves = words.split(separator: " ", maxSplits: 1)
            return (String(halves[0]), halves.count > 1 ? String(halves[1]) : "")
        }
        options = Words(parts.count > 3 ? parts[3] : "")
    }

    var description: String { "\(table) \(sources.joined(separator: ", ")): \(title)" }
}
