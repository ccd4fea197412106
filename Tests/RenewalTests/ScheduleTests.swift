import Renewal
import TestSupport
import Testing

/// Design section 5: no purchase waits longer than its bound.
@Suite struct ScheduleTests {
    static let jitters = [0, 0.3, 0.999]
    /// Far beyond any period that a store sells, on both sides of the check.
    static let hoursToTheEnd = Array(stride(from: -2000, through: 20_000, by: 97)) + [-1, 0, 1, 2]

    /// The time to the next check after an answer that changes nothing else.
    private func wait(
        _ store: Store, _ heard: String, known: String, hours: Int, jitter: Double,
        longest: Duration = .days(30)
    ) throws -> Duration? {
        let day = 100
        let away = hours < 0 ? "-\(-hours)h" : "+\(hours)h"
        let end = "\(day)\(away)"
        var stage = try Stage(
            Story(head: "a wait | \(known) \(end) \(store.rawValue)"), jitter: jitter,
            longestWait: longest)
        let words = heard.replacing("END", with: end)
        let (outcome, _) = try stage.hear(words, at: "\(day)")
        guard outcome.schedule.nextCheckAt != .never else { return nil }
        return outcome.schedule.nextCheckAt - (try TestCalendar.time("\(day)"))
    }

    @Test(arguments: Store.allCases, jitters)
    func asksWithinTheSweepWhatIsInForce(_ store: Store, _ jitter: Double) throws {
        // Amazon's rule is 72 hours; a refund anywhere shows itself within eight days.
        let bound: Duration = store == .amazon ? .hours(72) : .days(8)
        for hours in Self.hoursToTheEnd {
            for heard in ["active END", "active END off"] {
                let wait = try wait(store, heard, known: "active", hours: hours, jitter: jitter)
                let found = try #require(wait)
                #expect(found >= .seconds(1) && found <= bound)
                // Unanswered ends are asked about ever more slowly, but not slowly.
                if hours <= 0 { #expect(found <= .hours(7)) }
                // Never later than half a minute after the end.
                if hours > 0 { #expect(found <= .hours(hours) + .seconds(30)) }
            }
        }
    }

    @Test(arguments: Store.allCases, jitters)
    func noWaitIsLongerThanMaxUnasked(_ store: Store, _ jitter: Double) throws {
        for hours in Self.hoursToTheEnd.filter({ $0 % 5 == 0 }) {
            for (heard, known) in [
                ("active END", "active"), ("grace END", "grace"), ("ended END", "expired"),
            ] {
                let usual = try wait(store, heard, known: known, hours: hours, jitter: jitter)
                let bound = try wait(
                    store, heard, known: known, hours: hours, jitter: jitter, longest: .hours(5))
                // What is never asked about again stays so.
                guard let usual, let bound else {
                    #expect(usual == nil && bound == nil)
                    continue
                }
                #expect(usual <= .days(30) && bound <= .hours(5))
                #expect(usual > .hours(5) ? bound >= .minutes(270) : bound == usual)
            }
        }
    }

    @Test(arguments: Store.allCases, jitters)
    func aStoreThatNamesATimeIsNotAskedBefore(_ store: Store, _ jitter: Double) throws {
        let found = try wait(
            store, "throttled retry=3h", known: "active", hours: 97, jitter: jitter,
            longest: .hours(1))
        #expect(try #require(found) >= .hours(3))
    }

    @Test(arguments: Store.allCases, jitters)
    func asksOftenInGrace(_ store: Store, _ jitter: Double) throws {
        for hours in Self.hoursToTheEnd {
            let wait = try wait(store, "grace END", known: "grace", hours: hours, jitter: jitter)
            let found = try #require(wait)
            #expect(found >= .minutes(1) && found <= .hours(6) + .seconds(30))
        }
    }

    /// From one look to the next, while nothing changes, from the beginning of grace to its end.
    private func looks(
        _ store: Store, minutes: Int, mark: String = "", jitter: Double
    ) throws -> [Duration] {
        var stage = try Stage(
            Story(head: "grace | active 100 \(store.rawValue)\(mark)"), jitter: jitter)
        let start = try TestCalendar.time("100")
        var times = [Duration.zero]
        while let last = times.last, last < .minutes(minutes), times.count < 10_000 {
            let (outcome, _) = try stage.hear(
                "grace 100+\(minutes)m\(mark)", at: "100+\(last.components.seconds)s")
            times.append(outcome.schedule.nextCheckAt - start)
        }
        return times
    }

    @Test(arguments: Store.allCases, jitters)
    func looksSixTimesIntoADayOfGrace(_ store: Store, _ jitter: Double) throws {
        for days in [1, 3, 7, 16, 30] {
            let looks = try looks(store, minutes: days * 24 * 60, jitter: jitter)
            // Without the first, by which grace was found.
            #expect(looks.count - 1 <= 4 * days + 3)
            let end = try #require(looks.last)
            #expect(end >= .days(days) + .seconds(4) && end <= .days(days) + .seconds(30))
            for (one, other) in zip(looks, looks.dropFirst()) {
                #expect(other - one <= .hours(6) + .seconds(31))
            }
        }
    }

    @Test(arguments: Store.allCases, jitters)
    func looksOftenIntoTheGraceOfATester(_ store: Store, _ jitter: Double) throws {
        for mark in [" sandbox", ""] {
            for minutes in [3, 5, 30, 60] {
                let looks = try looks(store, minutes: minutes, mark: mark, jitter: jitter)
                for (one, other) in zip(looks, looks.dropFirst()) {
                    #expect(other - one <= max(.minutes(minutes) / 4, .minutes(1)) + .seconds(31))
                }
            }
        }
    }

    @Test(arguments: Store.allCases, jitters)
    func watchesHoldForEver(_ store: Store, _ jitter: Double) throws {
        for hours in Self.hoursToTheEnd {
            let wait = try wait(store, "hold", known: "hold", hours: hours, jitter: jitter)
            let found = try #require(wait)
            #expect(found >= .seconds(54))
            #expect(found <= (hours > -65 * 24 ? .hours(14) : .days(8)))
        }
    }

    @Test(arguments: Store.allCases, jitters)
    func looksForTheEndOfAPause(_ store: Store, _ jitter: Double) throws {
        for hours in Self.hoursToTheEnd {
            let wait = try wait(store, "paused END", known: "paused", hours: -1, jitter: jitter)
            let found = try #require(wait)
            #expect(found >= .seconds(1) && found <= .days(8), "\(hours)")
        }
        let soon = try wait(store, "paused 100+2h", known: "paused", hours: -1, jitter: jitter)
        #expect(try #require(soon) <= .hours(2) + .seconds(30))
    }

    @Test(arguments: Store.allCases, jitters)
    func watchesWhatHasEndedForSixtyFiveDays(_ store: Store, _ jitter: Double) throws {
        for hours in Self.hoursToTheEnd where hours <= 0 {
            let wait = try wait(
                store, "ended END", known: "expired", hours: hours, jitter: jitter)
            guard hours > -65 * 24 else {
                // Apple's original id may be subscribed to again at any time.
                #expect((wait == nil) == (store != .apple))
                if let wait { #expect(wait >= .days(27) && wait <= .days(33)) }
                continue
            }
            let found = try #require(wait)
            #expect(found >= .hours(21) && found <= .days(8))
        }
    }

    @Test(arguments: jitters)
    func looksAtAppleBeforeItsEndAndRightAfter(_ jitter: Double) throws {
        let before = try wait(.apple, "active END", known: "active", hours: 24, jitter: jitter)
        let early = try #require(before)
        #expect(early >= .hours(23) && early <= .hours(24) - .minutes(30))
        let after = try wait(.google, "active END", known: "active", hours: 24, jitter: jitter)
        let late = try #require(after)
        #expect(late >= .hours(24) + .seconds(5) && late <= .hours(24) + .seconds(30))
    }

    @Test(arguments: jitters)
    func givesUpAPendingPurchaseNever(_ jitter: Double) throws {
        for day in [1, 2, 10, 100, 1000] {
            var stage = try Stage(Story(head: "pending | pending never"), jitter: jitter)
            let (outcome, _) = try stage.hear("pending", at: "\(day)")
            let wait = outcome.schedule.nextCheckAt - (try TestCalendar.time("\(day)"))
            #expect(wait >= .minutes(50) && wait <= .hours(27))
        }
    }

    @Test func spreadsWhatWasBoughtTogether() throws {
        let waits = try stride(from: 0, to: 1, by: 0.05).map { jitter in
            try wait(.google, "active END", known: "active", hours: 9000, jitter: jitter)
        }
        #expect(Set(waits).count == waits.count)
    }
}
