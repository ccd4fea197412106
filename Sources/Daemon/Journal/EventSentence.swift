import Engine
import Logging
package import Renewal

/// What the line of an event says, and the fields that the journal keeps beside it.
extension Event {
    /// Such as `grant pro to u-17: purchased (google monthly, purchase 12, until 2026-…Z)`.
    package var sentence: String { sentence(naming: userID.text) }

    /// The same, with the user named as the log names users.
    package func sentence(naming user: String) -> String {
        let isRevoke = if case .revoke = kind { true } else { false }
        let until =
            isRevoke
            ? ", since \(effectiveAt.text)" : expiresAt.map { ", until \($0.text)" } ?? ""
        let about = "(\(app.store.rawValue) \(product), purchase \(purchaseID)\(until))"
        guard let entitlement else {
            return "notice for \(user): \(kind.reason) \(about)"
        }
        let towards = kind.name == "grant" ? "to" : "from"
        return "\(kind.name) \(entitlement) \(towards) \(user): \(kind.reason) \(about)"
    }

    /// What the journal keeps beside the text. No order id: for some stores that is the token.
    func fields(naming user: String, lag: Duration?) -> Logger.Metadata {
        var fields: Logger.Metadata = [
            LogField.topic: "\(kind.topic)", LogField.store: "\(app.store.rawValue)",
            LogField.app: "\(app.id)", LogField.purchase: "\(purchaseID)", "user": "\(user)",
            "event": "\(kind.name)", "reason": "\(kind.reason)", "product": "\(product)",
            "effective_at": "\(effectiveAt.text)",
        ]
        if let entitlement { fields["entitlement"] = "\(entitlement)" }
        if let environment { fields["environment"] = "\(environment.rawValue)" }
        if let expiresAt { fields["expires_at"] = "\(expiresAt.text)" }
        if let lag { fields["detection_lag_ms"] = "\(lag.milliseconds)" }
        return fields
    }
}
