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
        for link in truth.links where stage.book.purchases[Int64(link.number)] == nil {
            try submit(link.number)
        }
        try await pass(to: clock + .days(9))
        try compare("within the bounds of the schedule")
        for link in truth.links { due[link.number] = clock }
        try await pass(to: clock + .seconds(1))
        try compare("after a look")
    }

    private func compare(_ when: String) throws {
        for link in truth.links {
            guard let facts = stage.book.purchases[Int64(link.number)]?.purchase.facts else {
                continue
            }
            // What never is asked again may have come back unheard.
            if due[link.number] == .never, when != "after a look" { continue }
            let isGranted = facts.access == .granted
            guard isGranted == link.grants else {
                throw Broken(
                    rule: "access is the truth's \(when)",
                    detail: "link \(link.number) \(facts.access), \(link.standing)")
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
        if let clue = mail.clue { stage.keep(clue, of: Int64(mail.link), at: clock) }
        due[mail.link] = min(due[mail.link] ?? clock, clock)
    }

    private mutating func submit(_ number: Int) throws {
        if stage.book.purchases[Int64(number)] == nil {
            say("submitted: \(number)")
            stage.submit(
                Int64(number), try life.realm.token(of: number),
                of: ProductID(truth[number].product),
                at: clock)
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
        case elsewhere(String)
    }

    private mutating func check(_ number: Int) async throws {
        checks += 1
        let delivery = delivery(about: number)
        let (cell, made): (String, Timestamp) =
            switch delivery {
            case .truth: (Telling(truth, about: number).cell, clock)
            case .trouble(let words), .elsewhere(let words): (words, clock)
            case .behind(let then): (Telling(then, about: number).cell, then.now)
            }
        let jitter = Double.random(in: 0..<1, using: &chance)
        let heard = try await stage.hear(
            cell, of: Int64(number), made: made, at: clock, jitter: jitter)
        let next = heard.decision.nextCheckAt
        due[number] = next == .never ? next : Self.wholeSecond(next)
        say("\(number): \(cell)  ->  \(heard.cells.joined(separator: "  "))")
        let oracle = Oracle(
            truth: truth, number: number, heard: heard,
            marks: (unheard[number] ?? []) + all.filter { $0.link != number }, book: stage.book)
        try oracle.judgeAny()
        for notice in heard.decision.notices {
            if let place = unheard[number]?.firstIndex(where: { $0.what == .told(notice.reason) }) {
                unheard[number]?.remove(at: place)
            }
        }
        switch delivery {
        case .truth:
            try oracle.judgeTrue()
            heardTruth[number] = truth
            doubted.remove(number)
            // What only a hint shows may be told later.
            unheard[number]?.removeAll { $0.what != .told(.refundOfPastPeriod) }
        case .trouble: try oracle.judgeTrouble()
        case .behind: try oracle.judgeBehind()
        case .elsewhere: try oracle.judgeUntrue()
        }
    }

    private static func wholeSecond(_ time: Timestamp) -> Timestamp {
        let rest = time.microsecondsSinceEpoch % 1_000_000
        return rest == 0 ? time : time + .microseconds(1_000_000 - rest)
    }

    private mutating func delivery(about number: Int) -> Delivery {
        guard let (kind, until) = weather else { return .truth }
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
            guard let then = earlier(number) else { return .truth }
            count("heard what was")
            return .behind(then)
        case .notFound:
            guard isOnce, isKnown, doubted.insert(number).inserted else { return .truth }
            count("heard not found")
            return .elsewhere(life.realm.notFound)
        case .elsewhere:
            guard isKnown, doubted.insert(number).inserted else { return .truth }
            count("heard of something else")
            return .elsewhere(telling.elsewhere(&chance))
        }
    }

    /// A truth of before the last one heard, that an adapter can know for one.
    private mutating func earlier(_ number: Int) -> Truth? {
        guard let last = heardTruth[number] else { return nil }
        let others = past.filter { then in
            guard then.links.count >= number, then.now < last.now else { return false }
            if life.realm.isApple { return true }
            guard !life.realm.sellsOnce else { return false }
            let (old, new) = (then[number], last[number])
            return old.standing == .active && old.renews
                && old.current.index < new.current.index
        }
        return others.isEmpty ? nil : chance.any(others)
    }
}

extension Realm {
    fileprivate var notFound: String {
        switch self {
        case .apple, .appleProducts: "4040010"
        case .receipts: "verify 21010"
        case .googleV2, .googleV1, .googleProducts, .googleProductsV1, .amazon, .amazonProducts:
            "410"
        }
    }
}

extension Telling {
    /// An answer about something else, or without a piece.
    func elsewhere(_ chance: inout SeededGenerator) -> String {
        let other = "original=8 tx=8 product=other group=21000009"
        let copy = "original=8 tx=8 product=plus"
        let end = Self.day(truth.now + .days(20))
        let over = Self.day(max(truth.now - .days(20), TestCalendar.start))
        switch truth.realm {
        case .apple:
            return chance.any([
                "none", "1:\(end) \(other)", "2:\(over) \(other) intent=1 off",
                "2:\(over) \(copy) intent=1 off", "5:\(over) \(copy) family revoked=\(over)",
            ])
        case .receipts:
            return chance.any([
                "verify 0", "verify 0 + \(over) \(other)", "verify 0 + \(over) \(copy)",
                "verify 0 empty",
            ])
        case .googleV2:
            return chance.any([
                "EXPIRED \(over) by=user order=7", "EXPIRED \(over) by=user order=-",
                "ACTIVE \(end) order=7", "ON_HOLD \(over) order=-",
            ])
        case .googleV1:
            return chance.any([
                "v1 \(over) cancel=0 order=7", "v1 \(end) renews pay=1 order=7",
                "v1 \(over) renews pay=0 order=7",
            ])
        case .appleProducts:
            return chance.any([
                "4040010 / info \(link.product) original=8 tx=8 revoked=\(over)",
                "none / info \(link.product) original=8 tx=8 revoked=\(over)",
            ])
        case .googleProducts, .googleProductsV1:
            let old = truth.realm == .googleProductsV1 ? " old" : ""
            return chance.any([
                "product CANCELLED product=\(link.product) bought=\(over) order=7\(old)",
                "product PENDING product=\(link.product) order=7\(old)",
            ])
        case .amazonProducts:
            return "ENTITLED product=\(link.product) cancelled=\(over) receipt=another"
        case .amazon:
            return chance.any([
                "off cancelled=\(over) reason=1 receipt=another", "renews \(end) receipt=another",
            ])
        }
    }
}
