import Renewal

/// Who wanted a refund and why, as the list of voided purchases numbers it. A number that is not
/// known is told as it is.
///
/// <https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.voidedpurchases>
enum GoogleVoidWords {
    static func clue(of order: OrderID, source: Int64?, reason: Int64?) -> Clue? {
        guard source != nil || reason != nil else { return nil }
        return .void(
            of: order, source: word(source, sources), reason: word(reason, reasons))
    }

    private static func word(_ number: Int64?, _ words: [String]) -> String {
        guard let number else { return "unknown" }
        return Int(exactly: number).flatMap { words.indices.contains($0) ? words[$0] : nil }
            ?? "\(number)"
    }

    private static let sources = ["user", "developer", "store"]
    private static let reasons = [
        "other", "remorse", "not_received", "defective", "accidental_purchase", "fraud",
        "friendly_fraud", "chargeback", "unacknowledged",
    ]
}
