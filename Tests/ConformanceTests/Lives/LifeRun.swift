import Renewal
import TestSupport

/// Plays a life: the real adapter, the real decision and the real union on a clock of their own,
/// which follows what the decisions say about the next check. No sockets, no database.
struct LifeRun {
    private let life: Life
    private var truth: Truth
    private var past: [Truth]
    private var stage: Stage
    private var clock: Timestamp
    private var chance: SeededGenerator
    private var due: [Int: Timestamp] = [:]
    private var mail: [Mail] = []
    private var weather: (kind: Weather, until: Timestamp)?
    private var downUntil = TestCalendar.start
    private var unheard: [Int: [Truth.Mark]] = [:]
    private var all: [Truth.Mark] = []
    /// When a true answer was heard last, and what it was about.
    private var heardTruth: [Int: Truth] = [:]
    /// Refunds of which news has come.
    private var hintedRefunds: [Int: String] = [:]
    private var reversed: Set<Int> = []
    private var checkedAt: [Int: Timestamp] = [:]
    /// A period of which nobody can see what it is.
    private var disputed: [Int: Int] = [:]
    /// A purchase of which a false doubt was heard and no verdict since.
    private var doubted: Set<Int> = []
    private(set) var counts: [String: Int] = [:]
    private(set) var checks = 0
    /// For people: what happened and what was heard.
    private(set) var story: [String] = []
    private let tellsStory: Bool

    /// What arrives later.
    private struct Mail {
        let at: Timestamp
        let link: Int
        let clue: Clue?
        let isSubmit: Bool
    }

    init(_ life: Life, on scene: any StoreScene, tellsStory: Bool = false) {
        self.life = life
        self.tellsStory = tellsStory
        clock = TestCalendar.start
        truth = Truth(realm: life.realm, terms: life.terms, now: clock)
        past = []
        stage = Stage(scene, in: life.realm.store, under: Policy())
        chance = SeededGenerator(seed: life.seed ^ 0x11FE)
    }

    /// Everything that was fed to the run.
    var steps: Int { checks + counts.values.reduce(0, +) }

    /// - Throws: `Broken` where something is not as the truth says.
    mutating func play() async throws {
        for step in life.steps {
            try await pass(to: clock + step.after)
            try await take(step)
        }
        try await settle()
    }

    /// The world is well again: within the bounds of the schedule all is as the truth says.
    private mutating func settle() async throws {
        weather = nil
        downUntil = clock
        say("the world is well again")
        for link in truth.links where due[life.realm.purchase(of: link.number)] == nil {
            try submit(link.number)
        }
        let start = clock
        try await pass(to: clock + .days(9))
        try compare("within the bounds of the schedule", askedSince: start)
        for number in due.keys { due[number] = clock }
        try await pass(to: clock + .seconds(1))
        try compare("after a look", askedSince: clock - .seconds(1))
    }

    private func compare(_ when: String, askedSince start: Timestamp) throws {
        for number in due.keys.sorted() {
            guard let facts = stage.book.purchases[Int64(number)]?.purchase.facts else {
                continue
            }
            let isGranted = facts.access == .granted
            // What is over may have come back unheard, where it is asked about seldom or never.
            if !isGranted, checkedAt[number] ?? start < start { continue }
            // Amazon shows no end with auto-renew off.
            if life.realm == .amazon, facts.lossReason == .unverifiable { continue }
            let bearer = truth.bearer(of: number)
            // Of an end that no answer has shown, the next sweep tells.
            if facts.expiresAt == nil, case .ended(_, let at) = bearer.standing,
                checkedAt[number] ?? start < at
            {
                continue
            }
            // Our clock is behind: bad news of the last hours waits for its second opinion.
            let isFresh = all.contains { $0.at > clock - .hours(8) }
            if isGranted, life.terms.ahead < .zero, isFresh { continue }
            guard isGranted == bearer.grants else {
                throw Broken(
                    rule: "access is the truth's \(when)",
                    detail: "link \(number) \(facts.access), \(bearer.standing)")
            }
        }
    }
}

// Time.
extension LifeRun {
    private mutating func pass(to target: Timestamp) async throws {
        for _ in 0..<Self.checkLimit {
            let nextMail = mail.min { $0.at < $1.at }
            let nextDue = due.min { ($0.value, $0.key) < ($1.value, $1.key) }
            let mailAt = nextMail?.at ?? .never
            let dueAt = max(nextDue?.value ?? .never, downUntil)
            if let nextMail, mailAt <= min(dueAt, target) {
                advance(to: mailAt)
                mail.removeAll { $0.at == nextMail.at && $0.link == nextMail.link }
                try open(nextMail)
            } else if let nextDue, dueAt <= target {
                advance(to: dueAt)
                try await check(nextDue.key)
            } else {
                advance(to: target)
                return
            }
        }
        throw Broken(rule: "does not ask without end", detail: "until \(Telling.day(clock))")
    }

    private static let checkLimit = 4000

    /// The database's time.
    private var here: Timestamp { clock + life.terms.ahead }

    private mutating func advance(to target: Timestamp) {
        while let name = truth.step(to: target) {
            count(name)
            note()
        }
        clock = max(clock, target)
    }

    /// After each change of the truth.
    private mutating func note() {
        for mark in truth.takeMarks() {
            unheard[mark.link, default: []].append(mark)
            all.append(mark)
        }
        past.append(truth)
    }

    private mutating func count(_ name: String) {
        counts[name, default: 0] += 1
        say(name)
    }

    private mutating func say(_ text: @autoclosure () -> String) {
        guard tellsStory else { return }
        story.append("\(Telling.day(truth.now))  \(text())")
    }

    private mutating func open(_ mail: Mail) throws {
        if mail.isSubmit { return try submit(mail.link) }
        guard due[mail.link] != nil else { return }
        say("hint about \(mail.link)")
        if let clue = mail.clue { stage.keep(clue, of: Int64(mail.link), at: here) }
        // The same refund by other news, after it was reversed, is no news.
        let wasReversed = reversed.contains(mail.link)
        let link = truth[mail.link]
        let order = Telling.order(link.current, of: link, in: life.realm)
        if mail.clue == .refund(of: OrderID(order)), !wasReversed {
            hintedRefunds[mail.link] = order
        }
        due[mail.link] = min(due[mail.link] ?? clock, clock)
    }

    private mutating func submit(_ link: Int) throws {
        let number = life.realm.purchase(of: link)
        if stage.book.purchases[Int64(number)] == nil {
            say("submitted: \(number)")
            stage.submit(
                Int64(number), try life.realm.token(of: number),
                of: ProductID(truth[number].product),
                at: here)
        }
        due[number] = clock
    }
}

// Steps.
extension LifeRun {
    private mutating func take(_ step: Life.Step) async throws {
        switch step.what {
        case .life(let happening):
            let before = truth.links.count
            guard truth.happen(happening) else { return }
            count(step.what.name)
            if happening == .refundReversed {
                reversed.insert(truth.links.count)
                hintedRefunds[truth.links.count] = nil
            }
            let marks = truth.marks
            note()
            if truth.links.count > before {
                // Whoever buys in the app hands it in; what the app forgets it hands in later.
                let delay = step.hint.delays.first ?? .days(2)
                mail.append(
                    Mail(at: clock + delay, link: truth.links.count, clue: nil, isSubmit: true))
            }
            for delay in step.hint.delays { post(happening, marks, after: delay) }
        case .weather(let kind, let duration):
            count(step.what.name)
            weather = (kind, clock + duration)
        case .down(let days):
            count(step.what.name)
            downUntil = clock + .days(days)
        case .submitAgain:
            count(step.what.name)
            for link in due.keys { due[link] = clock }
        }
    }

    private mutating func post(
        _ happening: Happening, _ marks: [Truth.Mark], after delay: Duration
    ) {
        for link in truth.links {
            let order = marks.first { $0.link == link.number && $0.order != nil }?.order
            let clue: Clue? =
                if let order { .refund(of: OrderID(order)) } else if case .pause = happening {
                    .pause(news: "n\(clock.microsecondsSinceEpoch)")
                } else { nil }
            // Where there is no key there is no news.
            guard life.realm != .receipts, life.realm.store != .amazon else { continue }
            mail.append(Mail(at: clock + delay, link: link.number, clue: clue, isSubmit: false))
        }
    }
}

extension Life.Hint {
    var delays: [Duration] {
        switch self {
        case .lost: []
        case .once(let delay): [delay]
        case .twice(let delay): [delay, delay + .seconds(30)]
        }
    }
}

// Checks.
extension LifeRun {
    /// What is put on the wire, and how it is to be judged.
    private enum Delivery {
        case truth
        case trouble(String)
        case behind(Truth)
        /// A refund is not shown yet.
        case late(Truth)
        case elsewhere(String)
    }

    private mutating func check(_ number: Int) async throws {
        checks += 1
        let delivery = delivery(about: number)
        let (cell, made): (String, Timestamp) =
            switch delivery {
            case .truth: (Telling(truth, about: number).cell, clock)
            case .trouble(let words), .elsewhere(let words): (words, clock)
            case .behind(let then):
                (
                    Telling(then, about: number).cell,
                    isSignedAnew(then, about: number) ? clock : then.now
                )
            case .late(let then): (Telling(then, about: number).cell, clock)
            }
        let jitter = Double.random(in: 0..<1, using: &chance)
        let heard = try await stage.hear(
            cell, of: Int64(number), made: made, at: here, jitter: jitter)
        let next = heard.outcome.schedule.nextCheckAt
        due[number] = next == .never ? next : Self.wholeSecond(next - life.terms.ahead)
        checkedAt[number] = clock
        say("\(number): \(cell)  ->  \(heard.cells.joined(separator: "  "))")
        let oracle = Oracle(
            truth: truth, number: number, heard: heard,
            marks: (unheard[number] ?? []) + all.filter { $0.link != number },
            seen: heardTruth[number],
            isDisputed: disputed[number] == truth[number].current.index,
            book: stage.book)
        if oracle.isAmbiguous { disputed[number] = truth[number].current.index }
        try oracle.judgeAny()
        for notice in heard.outcome.notices {
            // The loss of a period that was never seen in force, not the refund of an earlier one.
            let isOwn =
                notice.reason == .refundOfPastPeriod && heard.outcome.facts.state == .refunded
            let order = notice.detail.refundedOrder
            if isOwn, order == nil || order == heard.outcome.facts.orderID { continue }
            if let place = unheard[number]?.firstIndex(where: { $0.what == .told(notice.reason) }) {
                unheard[number]?.remove(at: place)
            }
        }
        switch delivery {
        case .truth where oracle.isTooFresh:
            // Good news is heard at once.
            unheard[number]?.removeAll { !$0.what.isBad }
        case .truth where oracle.waitsForReversal: break
        case .truth:
            if !oracle.isAmbiguous { try oracle.judgeTrue() }
            heardTruth[number] = truth
            doubted.remove(number)
            // What only a hint shows, and what waits for a successor, may be told later.
            let isAway = !truth[number].grants
            // With auto-renew off Amazon shows no end: that it was renewed is seen later.
            let showsEnd = life.realm != .amazon || truth[number].renews
            unheard[number]?.removeAll {
                $0.what != .told(.refundOfPastPeriod) && $0.what != .lost(.productChanged)
                    && !(isAway && $0.what == .told(.priceIncreasePending))
                    && !(!showsEnd && [.told(.renewed), .told(.trialConverted)].contains($0.what))
            }
        case .trouble: try oracle.judgeTrouble()
        case .behind: try oracle.judgeBehind()
        case .late:
            let order = Telling.order(
                truth[number].current, of: truth[number], in: life.realm)
            if hintedRefunds[number] == order { try oracle.judgeLate() }
        case .elsewhere: try oracle.judgeUntrue()
        }
    }

    private static func wholeSecond(_ time: Timestamp) -> Timestamp {
        let rest = time.microsecondsSinceEpoch % 1_000_000
        return rest == 0 ? time : time + .microseconds(1_000_000 - rest)
    }

    private mutating func delivery(about number: Int) -> Delivery {
        guard let (kind, until) = weather else { return truthOrLate(about: number) }
        if clock >= until { weather = nil }
        let isOnce = clock >= until
        let isKnown = heardTruth[number]?[number].grants ?? false
        let telling = Telling(truth, about: number)
        switch kind {
        case .trouble(let words):
            count("heard trouble")
            // Each of the two calls that such a check may make.
            return .trouble(
                life.realm == .appleProducts ? "\(words) / info \(words)" : words)
        case .behind:
            guard let then = earlier(number) else { return truthOrLate(about: number) }
            count("heard what was")
            return .behind(then)
        case .notFound:
            guard isOnce, isKnown, doubted.insert(number).inserted else {
                return truthOrLate(about: number)
            }
            count("heard not found")
            return .elsewhere(life.realm.notFound)
        case .elsewhere:
            guard isKnown, doubted.insert(number).inserted else {
                return truthOrLate(about: number)
            }
            count("heard of something else")
            return .elsewhere(telling.elsewhere(&chance))
        }
    }

    /// Answers show a refund some time after the store's news of it.
    private mutating func truthOrLate(about number: Int) -> Delivery {
        guard case .refunded(let at) = truth[number].standing,
            clock < at + life.terms.refundShownAfter,
            let then = past.last(where: { $0.now < at && $0.links.count >= number })
        else { return .truth }
        count("heard before a refund")
        return .late(then)
    }

    /// Apple signs its answers as it gives them: of an earlier period that can be known all the same.
    private mutating func isSignedAnew(_ then: Truth, about number: Int) -> Bool {
        guard [.apple, .receipts].contains(life.realm), let last = heardTruth[number],
            last[number].grants, then[number].current.index < last[number].current.index
        else { return false }
        return Bool.random(using: &chance)
    }

    /// A truth of before the last one heard, that an adapter can know for one.
    private mutating func earlier(_ number: Int) -> Truth? {
        guard let last = heardTruth[number] else { return nil }
        let others = past.filter { then in
            guard then.links.count >= number, then.now < last.now else { return false }
            if life.realm.isApple { return true }
            guard !life.realm.sellsOnce else { return false }
            let (old, new) = (then[number], last[number])
            // With auto-renew off Amazon shows no end: nothing tells that an answer is older.
            if life.realm == .amazon, !new.renews { return false }
            return old.standing == .active && old.renews
                && old.current.index < new.current.index
        }
        return others.isEmpty ? nil : chance.any(others)
    }
}
