import Renewal

// What Google tells of a sale beside what access hangs on. Nothing here is needed: what is missing
// or of another shape is left out.
extension SaleNotes {
    /// Of `purchases.subscriptionsv2`, but what is of one item.
    ///
    /// <https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.subscriptionsv2>
    init(subscription json: JSONObject) {
        self.init()
        region = RegionCode.checked(try? json.text("regionCode"))
        let own = try? json.object("externalAccountIdentifiers")
        let lapsed = try? json.object("outOfAppPurchaseContext")?
            .object("expiredExternalAccountIdentifiers")
        profileToken = Self.word(try? (own ?? lapsed)?.text("obfuscatedExternalProfileId"))
        linkedAccount = Self.word(try? (own ?? lapsed)?.text("externalAccountId"))
        let survey = try? json.object("canceledStateContext")?
            .object("userInitiatedCancellation")?.object("cancelSurveyResult")
        cancelReason = Self.known(
            try? survey?.text("reason"), without: "CANCEL_SURVEY_REASON_")
        cancelComment = Self.comment(try? survey?.text("reasonUserInput"))
    }

    /// Of one of its `lineItems`.
    init(item json: JSONObject) {
        self.init()
        if let amount = try? json.object("autoRenewingPlan")?.object("recurringPrice") {
            price = Money(google: amount)
        }
        if let details = try? json.object("offerDetails") {
            basePlan = Self.word(try? details.text("basePlanId"))
            offer = Self.word(try? details.text("offerId"))
            offerTags = Self.words(try? details.texts("offerTags"))
        }
        if let replacement = try? json.object("itemReplacement"),
            let product = Self.word(try? replacement.text("productId"))
        {
            replaced = Replaced(
                product: ProductID(product),
                basePlan: Self.word(try? replacement.text("basePlanId")),
                mode: Self.known(try? replacement.text("replacementMode")))
        }
    }

    /// Of `purchases.subscriptions`, version 1.
    init(_ legacy: GoogleLegacySubscription) {
        self.init()
        region = RegionCode.checked(legacy.countryCode?.value)
        profileToken = Self.word(legacy.obfuscatedExternalProfileId?.value)
        linkedAccount = Self.word(legacy.externalAccountId?.value)
        guard let survey = legacy.cancelSurveyResult?.value else { return }
        cancelReason = survey.cancelSurveyReason?.value.map { number in
            Self.surveyReasons[number] ?? "\(number)"
        }
        cancelComment = Self.comment(survey.userInputCancelReason?.value)
    }

    private static let surveyReasons: [Int64: String] = [
        0: "others", 1: "not_enough_usage", 2: "technical_issues", 3: "cost_related",
        4: "found_better_app",
    ]

    /// Nil for what is no name of anything.
    static func word(_ text: String?) -> String? {
        guard let text, !text.isEmpty, text.utf8.count <= wordLimitBytes else { return nil }
        return text
    }

    static func words(_ texts: [String]?) -> [String] {
        (texts ?? []).prefix(wordsLimit).compactMap(word)
    }

    private static let wordLimitBytes = 200
    private static let wordsLimit = 20

    /// A value of an enumeration in small letters, where it says something.
    private static func known(_ text: String?, without prefix: String = "") -> String? {
        guard let word = word(text), !word.hasSuffix("UNSPECIFIED") else { return nil }
        return (word.hasPrefix(prefix) ? String(word.dropFirst(prefix.count)) : word).lowercased()
    }

    /// The beginning of what the user has written.
    private static func comment(_ text: String?) -> String? {
        guard let text, !text.isEmpty else { return nil }
        return String(text.prefix(commentLimit))
    }

    private static let commentLimit = 500
}

extension Money {
    /// `units` are a text with a number, `nanos` a number; a part that is nought is left out.
    ///
    /// <https://developers.google.com/android-publisher/api-ref/rest/v3/Money>
    init?(google json: JSONObject) {
        guard let units = try? json.integer("units") ?? 0,
            let nanos = try? json.integer("nanos") ?? 0
        else { return nil }
        self.init(currency: try? json.text("currencyCode"), units: units, nanos: nanos)
    }
}

/// The same in what is read in the other way.
struct GoogleMoney: Decodable, Hashable, Sendable {
    let currencyCode: String?
    let units: LenientInteger?
    let nanos: LenientInteger?

    var money: Money? {
        Money(currency: currencyCode, units: units?.value ?? 0, nanos: nanos?.value ?? 0)
    }
}
