import Renewal
import Testing

@testable import Daemon

/// How long a store knew before we did.
@Suite struct DetectionTests {
    private static let app = AppKey(store: .google, id: "com.example.reader")
    private static let now = Timestamp(microsecondsSinceEpoch: 1_800_000_000_000_000)

    private func claim(
        checked: Duration? = .hours(6), paidThrough: Duration? = .minutes(2),
        submitted: Duration = .days(40), dueAt: Timestamp = now
    ) -> Claim {
        var facts = Facts(product: "pro")
        facts.paidThrough = paidThrough.map { Self.now - $0 }
        return Claim(
            purchase: Purchase(
                id: 7, userID: "ann", app: Self.app, token: "t", createdAt: Self.now - submitted,
                facts: facts),
            shard: 0, lane: 1, dueAt: dueAt, version: 1, attempts: 0, crashes: 0,
            checkedAt: checked.map { Self.now - $0 }, claimedAt: Self.now)
    }

    private func detection(
        _ kind: EventKind, effective: Duration = .minutes(3), _ claim: Claim,
        under policy: Policy = Policy()
    ) -> Detection? {
        Event(
            kind, userID: "ann", entitlement: nil, purchaseID: 7, app: Self.app, environment: nil,
            product: "pro", orderID: nil, effectiveAt: Self.now - effective, expiresAt: nil
        ).detection(by: claim, under: policy, at: Self.now + .seconds(1))
    }

    @Test(arguments: [
        (RevokeReason.expired, Detection.Change?.some(.expiry)), (.cancelled, .expiry),
        (.refunded, .refund), (.paymentFailed, .paymentFailure), (.paused, .other),
        (.invalid, nil), (.unverifiable, nil), (.manual, nil), (.transferred, nil),
    ])
    func aRevokeIsDatedByTheStore(_ reason: RevokeReason, _ change: Detection.Change?) {
        let found = detection(.revoke(reason), claim())
        #expect(found == change.map { Detection(change: $0, lag: .seconds(181)) })
    }

    /// What the policy gives after the end is no lag; a refund has none of it.
    @Test(arguments: [
        (RevokeReason.expired, Duration.minutes(2), Duration.seconds(61)),
        (.cancelled, .minutes(3), .seconds(1)), (.cancelled, .minutes(4), .seconds(181)),
        (.refunded, .minutes(2), .seconds(181)),
    ])
    func leniencyIsNoLag(_ reason: RevokeReason, leniency: Duration, lag: Duration) {
        var policy = Policy()
        policy.leniency = leniency
        #expect(detection(.revoke(reason), claim(), under: policy)?.lag == lag)
    }

    @Test func whatEndedBeforeItWasSubmittedIsHistory() {
        #expect(detection(.revoke(.expired), claim(submitted: .minutes(1))) == nil)
    }

    @Test func aBuyerWaitsFromTheSubmissionOn() {
        let fresh = claim(checked: nil, paidThrough: nil, submitted: .seconds(4))
        #expect(detection(.grant(.purchased), fresh)?.lag == .seconds(5))
        // Paid later, or restored later: nobody knows since when.
        #expect(detection(.grant(.purchased), claim()) == nil)
        let imported = claim(
            checked: nil, paidThrough: nil, submitted: .days(2), dueAt: .backfill + .seconds(1))
        #expect(detection(.grant(.purchased), imported) == nil)
    }

    @Test func aRenewalCountsFromTheEndOfThePeriodBefore() {
        let renewal = Detection(change: .renewal, lag: .seconds(121))
        #expect(detection(.notice(.renewed), claim()) == renewal)
        // Apple renews up to a day before that.
        #expect(detection(.notice(.renewed), claim(paidThrough: .hours(-5))) == nil)
        #expect(detection(.notice(.renewed), claim(paidThrough: nil)) == nil)
    }

    @Test func aPaymentThatFailsCountsFromTheEndOfWhatIsPaid() {
        let found = detection(.notice(.paymentPending), claim())
        #expect(found == Detection(change: .paymentFailure, lag: .seconds(121)))
    }

    @Test func aRecoveryCountsFromTheCheckBefore() {
        for kind in [EventKind.grant(.recovered), .notice(.paymentRecovered)] {
            #expect(
                detection(kind, claim())
                    == Detection(change: .recovery, lag: .hours(6) + .seconds(1)))
            #expect(detection(kind, claim(checked: nil)) == nil)
        }
    }

    @Test func whatTheUserDecidedIsNotDated() {
        #expect(detection(.notice(.autoRenewOff), claim()) == nil)
    }
}
