import Logging
import Renewal
import Synchronization

/// Answers the stores' questions about refunds. Each answer is written down as about to be sent,
/// under a number of its own, before the store is called: two workers do not send one answer
/// together, and after a crash it is known which ones may have arrived.
final class RefundResponder: Sendable {
    private struct State {
        /// What `answer_refund` was last told to go by.
        var followed: RefundRule?
        /// Apps that are being answered for, and those that failed: until when they rest.
        var busy: Set<AppKey> = []
        var resting: [AppKey: ContinuousClock.Instant] = [:]
        /// Apps that nobody may ask about.
        var paused: Set<AppKey> = []
        var isStopping = false
    }

    private let context: RunContext
    private let store: any RefundStore
    private let turns: any CallTurns
    private let state = Mutex(State())
    private let wakeUp = AsyncEvent()

    /// How long a call may take before others take its process for dead.
    static let sendingLimit = Duration.minutes(2)
    private static let leastPace = Duration.milliseconds(250)
    /// Where no question is open nothing is late that is seen some polls later.
    private static let idlePolls = 5
    /// How long an app rests after a failure.
    private static let failureRest = Duration.seconds(15)

    /// Nil where questions cannot be stored.
    init?(_ context: RunContext, _ turns: any CallTurns) {
        guard let store = context.services.refundStore else { return nil }
        self.context = context
        self.store = store
        self.turns = turns
    }

    private var log: Logger { context.log }
    private var rule: RefundRule { context.settings.refunds }

    /// What is being sent is finished; nothing further is begun.
    func stop() {
        state.withLock { $0.isStopping = true }
        wakeUp.signal()
    }

    /// Answers nothing of these apps until it is told of others.
    func pause(_ apps: Set<AppKey>) {
        let isChange = state.withLock { state in
            defer { state.paused = apps }
            return state.paused != apps
        }
        if isChange { wakeUp.signal() }
    }

    /// Answers until `stop`; in one pass what is due now.
    func run() async {
        defer { context.heartbeat.rest(.refunds) }
        await withDiscardingTaskGroup { group in
            while !mustEnd {
                var pace = max(context.settings.poll, Self.leastPace)
                context.heartbeat.expect(.refunds, within: context.settings.stallLimit)
                if let round = await look() {
                    if !round.hasOpen { pace = pace * Self.idlePolls }
                    let began = ContinuousClock.now
                    for (app, cases) in Dictionary(grouping: round.due, by: \.app) {
                        group.addTask { await self.answer(cases, of: app, round.now, at: began) }
                    }
                }
                guard context.mode == .forever else { return }
                context.heartbeat.expect(.refunds, within: pace + context.settings.stallLimit)
                await wakeUp.wait(upTo: pace)
            }
        }
    }

    private var mustEnd: Bool { Task.isCancelled || state.withLock { $0.isStopping } }

    // MARK: The database

    /// Nil without a database.
    private func look() async -> RefundRound? {
        let rule = rule
        do throws(LedgerError) {
            if state.withLock({ $0.followed }) != rule {
                try await store.follow(rule)
                state.withLock { $0.followed = rule }
            }
            let round = try await store.refundRound(of: takeFreeApps(), under: rule)
            context.faults.ended(.refunds)
            for alarm in round.alarms { log.tell(alarm) }
            for request in round.unreadable { log.tell(request) }
            state.withLock { $0.busy.formUnion(round.due.map(\.app)) }
            return round
        } catch {
            context.faults.met(error, by: .refunds)
            log.debug(.refundRoundWaits(error))
            return nil
        }
    }

    /// Those that may be answered for now.
    private func takeFreeApps() -> [AppKey] {
        let stores = context.settings.stores
        return state.withLock { state in
            context.services.stores.apps.filter { app in
                (stores.isEmpty || stores.contains(app.store)) && !state.busy.contains(app)
                    && !state.paused.contains(app)
                    && state.resting[app].map { $0 <= .now } ?? true
            }
        }
    }

    // MARK: Sending

    /// One after the other. A failure is the app's, until something shows otherwise.
    private func answer(
        _ cases: [RefundCase], of app: AppKey, _ now: Timestamp,
        at began: ContinuousClock.Instant
    ) async {
        for one in cases where !mustEnd {
            guard let place = await turns.turn(of: app),
                await send(one, at: place, now: now + (ContinuousClock.now - began))
            else {
                state.withLock { $0.resting[app] = .now + Self.failureRest }
                break
            }
        }
        state.withLock { _ = $0.busy.remove(app) }
    }

    /// - Returns: whether the store and the database have done what they should.
    private func send(_ one: RefundCase, at place: CallPlace, now: Timestamp) async -> Bool {
        let part = Heartbeat.Part.refund(one.id)
        context.heartbeat.expect(part, within: Self.sendingLimit)
        defer { context.heartbeat.rest(part) }
        let reply = RefundReply(
            app: one.app, question: one.question, answer: one.answer(under: rule, at: now))
        do throws(LedgerError) {
            let attempt = RefundAttempt(
                of: one, answer: reply.answer, by: context.worker, limit: Self.sendingLimit)
            guard try await store.begin(attempt) else { return true }
            let sending = await context.services.stores.answer(
                reply, at: now, turns.permit(for: one.app).beginning(at: place))
            let ending = one.ending(sending, jitter: .random(in: 0..<1))
            try await store.end(attempt, ending)
            log.tell(one, ending)
            return if case .later = ending { false } else { true }
        } catch {
            // What was begun and not noted is found when its time is up.
            context.faults.met(error, by: .refunds)
            log.debug(.refundFailed(one.id, error.sentence))
            return false
        }
    }
}

extension Logger {
    fileprivate func tell(_ alarm: RefundAlarm) {
        switch alarm.cause {
        case .unanswered:
            say(.warning, .refundUnanswered, alarm.id, alarm.app, .refundUnanswered(alarm))
        case .expired:
            say(.notice, .refundExpired, alarm.id, alarm.app, .refundExpired(alarm))
        case .uncertain:
            say(.warning, .refundUncertain, alarm.id, alarm.app, .refundUncertain(alarm))
        }
    }

    fileprivate func tell(_ one: UnreadableRequest) {
        say(.error, .refundWaits, one.id, one.app, .refundUnreadable(one.id, one.problem))
    }

    fileprivate func tell(_ one: RefundCase, _ ending: RefundEnding) {
        switch ending {
        case .taken:
            say(.info, .refundAnswered, one.id, one.app, .refundAnswered(one.id, by: one.app.store))
        case .uncertain(let problem):
            say(
                .warning, .refundUncertain, one.id, one.app,
                .refundFailed(one.id, problem.sentence))
        case .refused(let problem):
            say(.warning, .refundRefused, one.id, one.app, .refundFailed(one.id, problem.sentence))
        case .later(let problem, _):
            // Once for each request.
            say(
                one.attempts == 0 ? .notice : .debug, .refundWaits, one.id, one.app,
                .refundWaits(one.id, problem))
        }
    }

    private func say(
        _ level: Logger.Level, _ topic: EngineTopic, _ id: Int64, _ app: AppKey,
        _ message: Logger.Message
    ) {
        var fields = LogField.topic(topic, of: app)
        fields["request"] = "\(id)"
        log(level: level, message, metadata: fields)
    }
}
