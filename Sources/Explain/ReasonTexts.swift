import Renewal

/// What the reasons of events mean, for people. An unknown one, as a newer version may have
/// written, has no meaning here and is shown as it is.
enum ReasonTexts {
    static func meaning(of reason: String, kind: String) -> String? {
        switch kind {
        case "grant": GrantReason(rawValue: reason)?.meaning
        case "revoke": RevokeReason(rawValue: reason)?.meaning
        case "notice": NoticeReason(rawValue: reason)?.meaning
        default: nil
        }
    }
}

extension GrantReason {
    fileprivate var meaning: String {
        switch self {
        case .purchased: "bought for the first time"
        case .resubscribed: "it had lapsed and is in force again"
        case .recovered: "the payment has arrived"
        case .resumed: "the pause is over"
        case .refundReversed: "the refund was taken back"
        case .transferred: "it came from another user"
        case .manual: "the configuration was changed"
        case .productChanged: "another product of the same subscription grants it"
        case .restored: "the store knows it again"
        }
    }
}

extension RevokeReason {
    fileprivate var meaning: String {
        switch self {
        case .expired: "the paid period is over"
        case .cancelled: "it ran out after the user had turned renewal off"
        case .paymentFailed: "the store could not collect the payment"
        case .paymentPending: "payment is pending, and the policy revokes then"
        case .refunded: "the money was given back, all or a part"
        case .familyRemoved: "it is no longer shared by the family"
        case .paused: "the user has paused it"
        case .priceIncreaseDeclined: "the user did not agree to a higher price"
        case .productUnavailable: "the product was not available any more"
        case .productChanged: "it was changed to a product that does not grant this"
        case .transferred: "it went to another user"
        case .manual: "taken away by a person, or by the configuration"
        case .invalid: "the store said twice that there is no such purchase"
        case .unverifiable: "the store has not answered for too long"
        }
    }
}

extension NoticeReason {
    fileprivate var meaning: String {
        switch self {
        case .renewed: "a new period was paid"
        case .paymentPending: "the payment failed, access goes on"
        case .paymentRecovered: "the payment has arrived, access was never lost"
        case .autoRenewOff: "the user has turned renewal off"
        case .autoRenewOn: "the user has turned renewal on again"
        case .pauseScheduled: "it will be paused"
        case .priceIncreasePending: "the user has yet to agree to a higher price"
        case .productChangeScheduled: "it will change to another product"
        case .extended: "its end was moved without a payment"
        case .trialConverted: "the trial has become a paid period"
        case .refundOfPastPeriod: "a period that is over was refunded"
        case .refunded: "the money was given back"
        case .unacknowledged: "nobody has acknowledged it; its store will take it back"
        case .sharedReceipt: "it was submitted for two users"
        case .environmentChanged: "the store answered from the other environment"
        case .tokenEnding: "its token can be asked about for two more weeks"
        case .migrated: "it is asked about by its transaction id from now on"
        case .refundRequested: "the store asks what the app says to a refund"
        case .refundDeclined: "the store has declined a refund"
        case .rejected: "the store does not accept this token"
        }
    }
}

extension PurchaseState {
    /// What the state means; nil where its name says it.
    var meaning: String? {
        switch self {
        case .active, .paused, .expired: nil
        case .new: "never checked"
        case .pending: "not paid yet"
        case .grace: "the payment failed, access goes on"
        case .hold: "the payment failed, access is suspended"
        case .refunded: "the money was given back"
        case .revoked: "no longer shared by the family"
        case .superseded: "a newer purchase of its chain has taken over"
        case .invalid: "the store does not know it"
        }
    }
}
