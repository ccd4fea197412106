import Daemon
import Testing

/// A back-fill does not drown the log.
@Suite struct LineBudgetTests {
    @Test func linesBeyondTheLimitAreCounted() {
        var budget = LineBudget()
        let start = ContinuousClock.now
        let admitted = (0..<10_000).count {
            budget.admits($0 % 4 == 0 ? "notices" : "grants", at: start)
        }
        #expect(admitted == 2 * LineBudget.limit)
        #expect(!budget.isEmpty)
        let said = [budget.summary(), budget.summary()]
        #expect(said == ["9600 lines were summarised: 7300 grants, 2300 notices", nil])
    }

    @Test func manyGrantsHideNoProblem() {
        var budget = LineBudget()
        let start = ContinuousClock.now
        for _ in 0..<10_000 { _ = budget.admits("grants", at: start) }
        let isTold = budget.admits("problems (unreachable)", at: start)
        #expect(isTold)
    }

    @Test func aNewSpanHasRoomAgain() {
        var budget = LineBudget()
        let start = ContinuousClock.now
        let times =
            Array(repeating: start, count: LineBudget.limit) + [
                start + LineBudget.span - .milliseconds(1), start + LineBudget.span,
            ]
        let admitted = times.map { budget.admits("grants", at: $0) }
        #expect(admitted.suffix(3) == [true, false, true])
        let said = budget.summary()
        #expect(said == "1 lines were summarised: 1 grants")
    }

    @Test func aQuietDayLosesNothing() {
        var budget = LineBudget()
        let start = ContinuousClock.now
        let admitted = (0..<1000).count { budget.admits("grants", at: start + .seconds($0)) }
        #expect(admitted == 1000 && budget.isEmpty)
    }
}
