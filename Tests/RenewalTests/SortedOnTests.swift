import Renewal
import Testing

struct SortedOnTests {
    @Test func ordersByTheKeyAndLeavesEqualOnesInTheirOrder() {
        let words = ["pear", "fig", "plum", "date", "kiwi", "apple", "nut"]
        #expect(
            words.sorted(on: \.count) == ["fig", "nut", "pear", "plum", "date", "kiwi", "apple"])
        #expect([String]().sorted(on: \.count) == [])
    }

    @Test func readsEachKeyOnce() {
        var reads = 0
        let sorted = Array((0..<100).reversed()).sorted(on: { (number: Int) in
            reads += 1
            return number
        })
        #expect(sorted == Array(0..<100))
        #expect(reads == 100)
    }
}
