import Renewal
import Testing

@testable import Stores

/// When the last instalment that is owed will have run out (design rule 16).
@Suite struct GoogleInstalmentTests {
    private struct Row: Sendable, CustomTestStringConvertible {
        let about: String
        let start: String?
        let expires: String
        let initial: Int
        let remaining: Int
        let end: String

        init(
            _ about: String, _ start: String?, _ expires: String, _ counts: (Int, Int),
            _ end: String
        ) {
            (self.about, self.start, self.expires, self.end) = (about, start, expires, end)
            (initial, remaining) = counts
        }

        var testDescription: String { about }
    }

    private static let rows = [
        Row(
            "by the month, some seconds off", "2026-01-15T10:20:30.456Z",
            "2026-03-15T10:20:28.912Z", (12, 10), "2027-01-15T10:20:28.912Z"),
        Row(
            "the first month of the year", "2026-01-15T10:00:00Z", "2026-02-15T10:00:00Z", (12, 11),
            "2027-01-15T10:00:00Z"),
        Row(
            "the last day of a month", "2025-08-31T10:00:00Z", "2025-09-30T10:00:00Z", (6, 5),
            "2026-02-28T10:00:00Z"),
        Row(
            "a day that has slid", "2026-01-31T10:00:00Z", "2026-03-28T10:00:00Z", (12, 10),
            "2027-01-28T10:00:00Z"),
        Row(
            "thirty days each", "2026-01-01T10:00:00Z", "2026-03-02T10:00:00Z", (12, 10),
            "2026-12-27T10:00:00Z"),
        Row(
            "after a trial of a week", "2026-01-08T10:00:00Z", "2026-02-15T10:00:00Z", (12, 11),
            "2027-01-15T10:00:00Z"),
        Row(
            "in the trial", "2026-01-08T10:00:00Z", "2026-01-15T10:00:00Z", (12, 12),
            "2027-01-15T10:00:00Z"),
        Row(
            "a second commitment", "2025-01-15T10:00:00Z", "2026-02-15T10:00:00Z", (12, 11),
            "2027-01-15T10:00:00Z"),
        Row(
            "a tester's month of five minutes", "2026-01-15T10:00:00Z", "2026-01-15T10:10:00Z",
            (12, 10), "2026-01-15T11:00:00Z"),
        Row("no start", nil, "2026-02-15T10:00:00Z", (12, 1), "2026-03-15T10:00:00Z"),
        Row("nothing owed", nil, "2026-02-15T10:00:00Z", (12, 0), "2026-02-15T10:00:00Z"),
    ]

    @Test(arguments: rows)
    private func ends(_ row: Row) throws {
        let text = """
            {"initialCommittedPaymentsCount":\(row.initial),
            "remainingCommittedPaymentsCount":\(row.remaining)}
            """
        let plan = try GoogleInstalments(JSONObject(Array(text.utf8)))
        let end = plan.end(after: try time(row.expires), since: try row.start.map(time))
        #expect(end == (try time(row.end)))
    }

    @Test(arguments: [
        #"{"installmentDetails":7}"#,
        #"{"installmentDetails":{"initialCommittedPaymentsCount":-1}}"#,
        #"{"installmentDetails":{"remainingCommittedPaymentsCount":"some"}}"#,
        #"{"installmentDetails":{"remainingCommittedPaymentsCount":99999999999999999999}}"#,
        #"{"installmentDetails":{"remainingCommittedPaymentsCount":4294967301}}"#,
    ])
    func whatCannotBeReadIsNotTold(_ text: String) throws {
        #expect(GoogleBilling(try JSONObject(Array(text.utf8))) == nil)
    }
}
