import FoundationEssentials
import Renewal
import Testing

/// Our calendar, beside Foundation's, which the core does without.
struct CivilTimeTests {
    @Test func printsEachDayAsFoundationDoes() {
        // Every day of 120 years, each at another time of the day.
        for day in 0..<43_830 {
            let second = day * 86_400 + day * 7919 % 86_400
            let time = Timestamp(microsecondsSinceEpoch: Int64(second) * 1_000_000 + 999_999)
            let date = Date(timeIntervalSince1970: Double(second))
            guard time.text == date.formatted(.iso8601) else {
                Issue.record("\(time.text) is \(date.formatted(.iso8601))")
                return
            }
        }
    }

    @Test(arguments: [
        (0, "1970-01-01T00:00:00Z"), (951_782_400, "2000-02-29T00:00:00Z"),
        (253_402_300_799, "9999-12-31T23:59:59Z"), (-62_135_596_800, "0001-01-01T00:00:00Z"),
    ])
    func knowsTheEdges(_ second: Int64, _ text: String) {
        #expect(Timestamp(microsecondsSinceEpoch: second * 1_000_000).text == text)
    }

    @Test func isTheSameForPeopleAndMachines() {
        let time = Timestamp(microsecondsSinceEpoch: 1_789_986_660_000_000)
        #expect(time.text == "2026-09-21T10:31:00Z")
        #expect(time.reading == "2026-09-21 10:31:00 UTC")
    }
}
