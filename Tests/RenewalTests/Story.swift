import Renewal
import TestSupport

/// Some stories of the decision table, with a heading for readers.
struct Section: Sendable {
    let title: String
    let prose: String
    let stories: [Story]

    /// In the text a line `# title | known | …` opens a story, the lines below it are its steps:
    /// time, heard, state, access, told, holds, asks again.
    init(_ title: String, _ prose: String, _ text: String) {
        self.title = title
        self.prose = prose
        var stories: [Story] = []
        for line in text.split(separator: "\n") where line.contains(where: { $0 != " " }) {
            if line.first == "#" {
                stories.append(Story(head: String(line.dropFirst(2))))
            } else {
                precondition(!stories.isEmpty, "a step stands before the first story")
                stories[stories.count - 1].steps.append(Story.Step(TextTable.cells(line)))
            }
        }
        self.stories = stories
    }
}

/// What is heard about a user's purchases one after another, and what must follow.
struct Story: Sendable, CustomStringConvertible {
    let title: String
    /// Purchase A as it is known at the start, in the words of `KnownWords`.
    private(set) var known = "new"
    /// Purchase B of the same user, where there is one.
    private(set) var secondKnown: String?
    private(set) var policy = ""
    var steps: [Step] = []

    /// One row: what is heard, and what must be so after it.
    struct Step: Sendable {
        /// A day of the test calendar, such as `30` or `30+10m`.
        let time: String
        let heard: String
        /// State, access, what is told, what the user holds, when it is asked again.
        let expected: [String]

        init(_ cells: [String]) {
            precondition(cells.count == 7, "a step has seven cells: \(cells)")
            time = cells[0]
            heard = cells[1]
            expected = Array(cells[2...])
        }
    }

    init(head: String) {
        let parts = head.split(separator: "|").map { TextTable.cells($0).joined(separator: " ") }
        precondition(!parts.isEmpty, "a story has a title")
        title = parts[0]
        for part in parts.dropFirst() {
            if part.hasPrefix("policy ") {
                policy = String(part.dropFirst(7))
            } else if part.hasPrefix("B ") {
                secondKnown = String(part.dropFirst(2))
            } else {
                known = part
            }
        }
    }

    var description: String { title }
}
