import Foundation
import Testing

/// One suite, three stores: each case of the references, from the bytes of an answer to the events.
@Suite struct ConformanceTests {
    @Test(arguments: CaseTable.all.flatMap(\.cases))
    func followsTheReference(_ item: ConformanceCase) async throws {
        var stage = try Stage(item)
        for (day, wire) in item.known { _ = try await stage.hear(wire, on: day) }
        for step in item.steps {
            let found = try await stage.hear(step.wire, on: step.day).cells
            let isSame = found == step.expected
            #expect(
                isSame,
                """
                \(item)
                \(step.day)  \(step.wire)  \(found.joined(separator: "  "))
                instead of   \(step.expected.joined(separator: "  "))
                """)
        }
    }

    @Test func tellsEachCaseOnce() {
        for table in CaseTable.all {
            let titles = table.cases.map(\.title)
            #expect(Set(titles).count == titles.count, "\(table.name) has a title twice")
            for item in table.cases where item.steps.isEmpty {
                Issue.record("\(item) has no step")
            }
        }
    }
}
