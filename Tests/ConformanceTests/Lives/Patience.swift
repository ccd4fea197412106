import Renewal

extension Oracle {
    /// No history tells verifyReceipt's reader what is a reversal and what an older copy: for a day
    /// after the last verdict it is neither.
    var waitsForReversal: Bool {
        guard truth.realm == .receipts, [.refunded, .revoked].contains(heard.before.state),
            heard.before.access == .none, truth.bearer(of: number).grants,
            let checkedAt = heard.outcome.claim.checkedAt
        else { return false }
        return !heard.outcome.isVerdict && heard.at - checkedAt < .days(1)
    }
}
