import Testing

@testable import StoreSimulator

@Suite("A purchase's timeline")
struct TimelineTests {
    /// Monthly, six days of grace, thirty of hold (none at Amazon). `until` is the end of the
    /// newest paid period in days; the truth is `yes` for access.
    static let table = rows(
        """
        store   deeds                      day     state           until    access
        apple   -                          0       active          31       yes
        apple   -                          30.9    active          31       yes
        apple   -                          30.96   active          59       yes
        apple   -                          100     active          120      yes
        apple   cancel@5                   30.99   active          31       yes
        apple   cancel@5                   31      expired         31       no
        apple   cancel@5 uncancel@6        31      active          59       yes
        apple   failPayment@5              30.99   active          31       yes
        apple   failPayment@5              31      grace           31       yes
        apple   failPayment@5              36.9    grace           31       yes
        apple   failPayment@5              37      hold            31       no
        apple   failPayment@5              67      payment_failed  31       no
        apple   failPayment@5 fixPayment@30.99   30.99   active    59       yes
        apple   failPayment@5 fixPayment@33      33      active    59       yes
        apple   failPayment@5 fixPayment@40      40      active    68       yes
        apple   failPayment@5 cancel@33    33      expired         31       no
        apple   refund@10                  10      refunded        31       no
        apple   refund@10                  90      refunded        31       no
        apple   refund@10 reverseRefund@12  12      active          31       yes
        apple   refund@10 reverseRefund@12  31      expired         31       no
        apple   refund@10 reverseRefund@40  40      expired         31       no
        apple   revoke@10                  10      revoked         31       no
        apple   refundPast@40              41      active          59       yes
        apple   refundPast@10              11      active          31       yes
        apple   expire@10                  10      expired         10       no
        apple   renew@10                   10      active          59       yes
        apple   cancel@5 renew@40          40      active          68       yes
        apple   upgrade@10                 10      active          41       yes
        apple   downgrade@10               31      active          59       yes
        google  -                          30.99   active          31       yes
        google  -                          31      active          59       yes
        google  failPayment@5              31      silent          31       yes
        google  failPayment@5              32      grace           31       yes
        google  failPayment@5              38      hold            31       no
        google  failPayment@5              68      payment_failed  31       no
        google  failPayment@5 fixPayment@31.5    31.5    active    59       yes
        google  failPayment@5 fixPayment@35      35      active    59       yes
        google  failPayment@5 fixPayment@41      41      active    69       yes
        google  pause@10                   30.99   active          31       yes
        google  pause@10                   31      paused          31       no
        google  pause@10                   45      active          73       yes
        google  pause@10 resume@20         31      active          59       yes
        google  pause@10 resume@35         35      active          63       yes
        google  pause@10 failPayment@35    45      hold            31       no
        google  replaced@10                10      replaced        31       no
        amazon  failPayment@5              31      grace           31       yes
        amazon  failPayment@5              37      payment_failed  31       no
        amazon  failPayment@5 fixPayment@33      33      active    59       yes
        """)

    @Test("is lived as the table says", arguments: table)
    func lives(_ row: [String]) throws {
        let store = try #require(StoreName(rawValue: row[0]))
        let terms = Terms(
            store: store, period: Period(months: 1), grace: .days(6),
            hold: store == .amazon ? nil : .days(30))
        let timeline = try Days.timeline(store, row[1], terms)
        let now = Days.instant(try #require(Double(row[2])))
        let life = timeline.life(at: now)
        #expect(life.phase.word == row[3])
        #expect(try Days.day(#require(life.latest).end) == Double(row[4]))
        #expect(timeline.entitled(at: now) == (row[5] == "yes"))
    }

    @Test("gives the same life step by step as in one go", arguments: table)
    func isTheSameInSteps(_ row: [String]) throws {
        let store = try #require(StoreName(rawValue: row[0]))
        let terms = Terms(store: store, period: Period(months: 1), grace: .days(6))
        let timeline = try Days.timeline(store, row[1], terms)
        var life = Life(of: timeline)
        for hour in 0..<(70 * 24) {
            let now = Days.instant(Double(hour) / 24)
            life.advance(along: timeline, to: now)
            #expect(life.face == timeline.life(at: now).face)
        }
    }

    @Test("keeps the day of the month, and returns to it after a short month")
    func keepsTheDayOfTheMonth() throws {
        let start = try #require(Instant(text: "2026-01-31T12:00:00Z"))
        let timeline = Timeline(
            store: .google, product: "pro", start: start,
            terms: Terms(store: .google, period: Period(months: 1)))
        let now = try #require(Instant(text: "2026-04-01T00:00:00Z"))
        let ends = timeline.life(at: now).charges.map(\.end.text)
        #expect(
            ends == ["2026-02-28T12:00:00Z", "2026-03-31T12:00:00Z", "2026-04-30T12:00:00Z"])
    }

    @Test("starts with a trial that a first charge follows")
    func startsWithATrial() throws {
        let terms = Terms(store: .google, period: Period(months: 1), trial: .days(7))
        let timeline = try Days.timeline(.google, "-", terms)
        #expect(timeline.life(at: Days.instant(6)).latest?.isTrial == true)
        let paid = try #require(timeline.life(at: Days.instant(7)).latest)
        #expect(!paid.isTrial && paid.number == 1 && Days.day(paid.end) == 38)
    }

    @Test("gives no access before its start or its payment")
    func givesNothingBeforePayment() throws {
        let terms = Terms(store: .google, period: Period(months: 1), isPending: true)
        let timeline = try Days.timeline(.google, "complete@2", terms)
        #expect(!timeline.entitled(at: Days.instant(-1)))
        #expect(!timeline.entitled(at: Days.instant(1)))
        #expect(timeline.entitled(at: Days.instant(2)))
        #expect(try !Days.timeline(.google, "abandon@2", terms).entitled(at: Days.instant(3)))
    }

    @Test("renews periods of seconds too, and never before they begin")
    func renewsShortPeriods() throws {
        let terms = Terms(store: .apple, period: Period(milliseconds: 60_000))
        let timeline = try Days.timeline(.apple, "-", terms)
        for second in 0..<600 {
            let now = Days.start + Int64(second) * 1000
            let latest = try #require(timeline.life(at: now).latest)
            #expect(latest.end > now && latest.start <= now + 30_000)
        }
    }
}

@Suite("Instants and periods")
struct InstantTests {
    @Test(
        "are read and written in RFC 3339",
        arguments: [
            "1970-01-01T00:00:00Z", "2026-01-15T10:20:30.456Z", "2024-02-29T23:59:59Z",
            "2100-12-31T00:00:00.001Z",
        ])
    func readsAndWrites(_ text: String) throws {
        #expect(try #require(Instant(text: text)).text == text)
    }

    @Test(
        "refuses what is no time in UTC",
        arguments: [
            "", "2026", "2026-02-29T00:00:00Z", "2026-01-01T00:00:00", "2026-01-01T24:00:00Z",
            "2026-01-01T00:00:00+01:00", "2026-13-01",
        ])
    func refuses(_ text: String) {
        #expect(Instant(text: text) == nil)
    }

    @Test(
        "periods are read and written in ISO 8601",
        arguments: [
            "P1M", "P1Y", "P1W", "P6D", "P30D", "PT12H", "P30DT1H", "PT5M", "P1Y2M3DT4H5M6S",
        ])
    func readsPeriods(_ text: String) throws {
        #expect(try #require(Period(text: text)).text == text)
    }

    @Test("refuses what is no period", arguments: ["", "P", "1M", "P1", "PT", "P-1D", "P1H"])
    func refusesPeriods(_ text: String) {
        #expect(Period(text: text) == nil)
    }

    @Test("dates of headers follow RFC 9110")
    func writesHeaderDates() throws {
        let instant = try #require(Instant(text: "2026-11-21T04:05:06.700Z"))
        #expect(instant.headerText == "Sat, 21 Nov 2026 04:05:06 GMT")
    }
}

@Suite("The simulated clock")
struct ClockTests {
    @Test("runs on, is set, moves forward, stands still and runs faster")
    func moves() {
        let machine = { (second: Int64) in Instant(milliseconds: second * 1000) }
        var clock = SimulatedClock(machine: machine(1000), wholeSeconds: false)
        #expect(clock.now(machine: machine(1010)) == machine(1010))
        clock.set(machine(50), machine: machine(1010))
        #expect(clock.now(machine: machine(1020)) == machine(60))
        clock.advance(Period(milliseconds: 5000), machine: machine(1020))
        #expect(clock.now(machine: machine(1020)) == machine(65))
        clock.run(at: 0, machine: machine(1020))
        #expect(clock.now(machine: machine(2000)) == machine(65))
        clock.run(at: 60, machine: machine(2000))
        #expect(clock.now(machine: machine(2001)) == machine(125))
        clock.run(at: 1, machine: machine(2001))
        #expect(clock.now(machine: machine(2003)) == machine(127))
    }

    @Test("keeps whole seconds of offset for libfaketime")
    func keepsWholeSeconds() {
        let machine = Instant(milliseconds: 1_000_250)
        var clock = SimulatedClock(machine: machine, wholeSeconds: true)
        clock.set(Instant(milliseconds: 5_000_000), machine: machine)
        #expect(clock.offset(machine: machine) == 4_000_000)
        #expect(clock.faketimeText(machine: machine) == "+4000\n")
    }
}
