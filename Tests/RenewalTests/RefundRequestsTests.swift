import Renewal
import Testing

/// What a store is told, and what becomes of an attempt to tell it.
@Suite struct RefundRequestsTests {
    private let start = Timestamp(microsecondsSinceEpoch: 1_700_000_000_000_000)

    private func request(
        _ store: Store = .google, given: RefundAnswer? = nil, kind: ProductKind? = .autoRenewable,
        period: Range<Timestamp>? = nil
    ) -> RefundCase {
        RefundCase(
            id: 1, app: AppKey(store: store, id: "a"),
            question: RefundQuestion(
                id: "n", originalID: "o", order: "o", environment: .production, reason: nil,
                askedAt: start, answerBy: start + .hours(12)),
            given: given, kind: kind, period: period ?? start..<(start + .days(30)), attempts: 3)
    }

    private func said(_ consumed: Int?, _ preference: RefundPreference = .grant) -> RefundAnswer {
        RefundAnswer(
            preference: preference, consumedMilliPercent: consumed, isDelivered: false,
            hasSample: true, isConsented: false)
    }

    @Test func thePolicyAnswersWithWhatIsKnown() {
        var rule = RefundRule()
        rule.policy = .prorate
        let answer = request().answer(under: rule, at: start + .days(10))
        #expect(
            answer
                == RefundAnswer(
                    preference: .prorate, consumedMilliPercent: 33_333, isDelivered: true,
                    hasSample: false, isConsented: false))
        rule.isConsented = true
        #expect(request().answer(under: rule, at: start).isConsented)
    }

    @Test func whatTheAppSaysIsSentAsItIs() {
        let answer = request(given: said(12_345)).answer(under: RefundRule(), at: start)
        #expect(answer == said(12_345))
    }

    /// Coins may have been spent or not; Apple works it out for what renews by itself.
    @Test func whatIsNotKnownIsNotSaid() {
        func consumed(
            _ store: Store, _ kind: ProductKind?, _ given: Int? = nil,
            _ period: Range<Timestamp>? = nil, after: Duration = .days(15)
        ) -> Int? {
            request(store, given: given.map { said($0) }, kind: kind, period: period)
                .answer(under: RefundRule(), at: start + after).consumedMilliPercent
        }
        #expect(consumed(.google, .autoRenewable) == 50_000)
        #expect(consumed(.google, .autoRenewable, after: .days(40)) == 100_000)
        #expect(consumed(.google, .autoRenewable, after: .seconds(-5)) == 0)
        #expect(consumed(.google, .autoRenewable, nil, start..<start) == nil)
        #expect(consumed(.google, .consumable) == nil)
        #expect(consumed(.google, nil) == nil)
        #expect(consumed(.google, .consumable, 70_000) == 70_000)
        #expect(consumed(.apple, .autoRenewable) == nil)
        #expect(consumed(.apple, .autoRenewable, 70_000) == nil)
        #expect(consumed(.apple, .nonRenewing) == 50_000)
        #expect(consumed(.apple, .nonConsumable, 70_000) == 70_000)
    }

    @Test func googleIsNotAskedTwiceAndAppleIs() {
        let cut = RefundSending.unknown(.unreachable(reason: "time-out"))
        let google = request(.google).ending(cut, jitter: 1)
        guard case .uncertain(let problem) = google else {
            Issue.record("\(google)")
            return
        }
        #expect(problem.sentence.contains("not known whether Google has the answer"))
        guard case .later(_, let rest) = request(.apple).ending(cut, jitter: 1) else {
            Issue.record("Apple is not asked again")
            return
        }
        #expect(rest > .seconds(5) && rest <= .minutes(5))
    }

    @Test func whatWasNotSentIsSentLater() {
        for store in [Store.apple, .google] {
            let slow = RefundSending.notSent(.throttled(retryAfter: .hours(1)))
            #expect(
                request(store).ending(slow, jitter: 0)
                    == .later(
                        Problem(.throttled, "the store asked for fewer calls"), rest: .hours(1)))
            #expect(request(store).ending(.taken, jitter: 0) == .taken)
            guard case .refused = request(store).ending(.refused(reason: "400"), jitter: 0) else {
                Issue.record("it would be sent again")
                return
            }
        }
    }
}
