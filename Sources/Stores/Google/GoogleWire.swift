import Renewal

/// Reads the answer of `purchases.subscriptionsv2.get`. Members with a default value are left out
/// by Google, and an unknown value of an enumeration does not spoil the rest.
///
/// <https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.subscriptionsv2>
struct GoogleSubscription: Sendable {
    let snapshot: GoogleSnapshot

    /// - Throws: `.malformed` with the field that is missing or makes no sense; `.mismatch` for the
    ///   answer to another question.
    init(_ body: [UInt8], at now: Timestamp) throws(StoreFailure) {
        let window = DateWindow(now: now)
        let json = try JSONObject(body)
        try GoogleKind.subscription.require(try? json.text("kind"))
        let state = GoogleState(try json.text("subscriptionState"))
        var items: [GoogleItem] = []
        for item in try json.objects("lineItems") ?? [] {
            items.append(try GoogleItem(item, window))
        }
        var snapshot = GoogleSnapshot(state: state, items: items)
        snapshot.latestOrder = try json.id("latestOrderId")
        snapshot.declinedOrder = try Self.declinedOrder(json)
        // The second of a subscription that was bought again in Play after the old one had lapsed;
        // it is gone once it is acknowledged.
        snapshot.predecessorToken = try json.id("linkedPurchaseToken")
        if let context = try json.object("outOfAppPurchaseContext"),
            snapshot.predecessorToken == nil
        {
            snapshot.predecessorToken = try context.id("expiredPurchaseToken")
        }
        snapshot.accountToken = Self.accountToken(json)
        // Missing while the first payment is pending.
        snapshot.startedAt = try window.past(
            rfc3339: try json.text("startTime"), field: "startTime")
        snapshot.resumesAt = try window.date(
            rfc3339: try json.object("pausedStateContext")?.text("autoResumeTime"),
            field: "pausedStateContext.autoResumeTime")
        snapshot.cancellation = try json.object("canceledStateContext").map(Self.who)
        snapshot.isTest = try json.has("testPurchase")
        snapshot.awaitsAcknowledgement =
            try json.text("acknowledgementState") == "ACKNOWLEDGEMENT_STATE_PENDING"
        snapshot.notes = SaleNotes(subscription: json)
        self.snapshot = snapshot
    }

    /// The account that the app named; of a subscription that was bought again in Play, without the
    /// app, that of the lapsed one. Nothing else depends on it, so what cannot be read is left out.
    private static func accountToken(_ json: JSONObject) -> UserID? {
        let own = try? json.object("externalAccountIdentifiers")
        let lapsed = try? json.object("outOfAppPurchaseContext")?
            .object("expiredExternalAccountIdentifiers")
        return [own, lapsed].lazy.compactMap { identifiers in
            try? identifiers?.id("obfuscatedExternalAccountId")
        }.first { !$0.isEmpty }
    }

    private static func declinedOrder(_ json: JSONObject) throws(StoreFailure) -> OrderID? {
        for name in ["inGracePeriodStateContext", "onHoldStateContext"] {
            guard let context = try json.object(name) else { continue }
            return try context.object("renewalDeclined")?.id("pendingOrderId")
        }
        return nil
    }

    /// Exactly one member is present.
    private static func who(
        _ canceled: JSONObject
    ) throws(StoreFailure) -> GoogleCancellation {
        if try canceled.has("userInitiatedCancellation") { return .user }
        if try canceled.has("systemInitiatedCancellation") { return .system }
        if try canceled.has("developerInitiatedCancellation") { return .developer }
        return try canceled.has("replacementCancellation") ? .replacement : .other
    }
}

extension GoogleItem {
    fileprivate init(_ json: JSONObject, _ window: DateWindow) throws(StoreFailure) {
        guard let product: ProductID = try json.id("productId"), !product.isEmpty else {
            throw .malformed(field: "lineItems.productId")
        }
        let plan = try json.object("autoRenewingPlan")
        let billing = plan.flatMap(GoogleBilling.init)
        self.init(
            product: product,
            expires: try window.date(
                rfc3339: try json.text("expiryTime"), field: "lineItems.expiryTime"),
            paidOrder: try json.id("latestSuccessfulOrderId"),
            renews: try plan?.flag("autoRenewEnabled") == true && billing?.isEnding != true)
        self.billing = billing
        isPrepaid = try json.has("prepaidPlan")
        phase = try json.object("offerPhase").flatMap(Self.phase)
        // The offer stays after its discount.
        usedOffer = (try? json.object("offerDetails")).flatMap { try? $0.has("offerId") }
        let replacement = try json.object("deferredItemReplacement")
        isToBeReplaced = replacement != nil
        self.replacement = try replacement?.id("productId")
        isLeaving = try json.has("deferredItemRemoval")
        hasPriceIncreasePending = try plan.map(Self.hasPriceIncreasePending) ?? false
        notes = SaleNotes(item: json)
    }

    private static func phase(_ json: JSONObject) throws(StoreFailure) -> Phase? {
        if try json.has("freeTrial") { return .trial }
        if try json.has("introductoryPrice") { return .introductory }
        if try json.has("basePrice") { return .regular }
        return switch try json.object("prorationPeriod")?.text("originalOfferPhaseType") {
        case "FREE_TRIAL": .trial
        case "INTRODUCTORY": .introductory
        case "BASE": .regular
        default: nil
        }
    }

    /// A higher price that waits for consent, or, in South Korea, a step after an offer.
    private static func hasPriceIncreasePending(
        _ plan: JSONObject
    ) throws(StoreFailure) -> Bool {
        if let change = try plan.object("priceChangeDetails"),
            try change.text("priceChangeState") == "OUTSTANDING"
        {
            let mode = try change.text("priceChangeMode")
            if mode == "PRICE_INCREASE" || mode == "OPT_OUT_PRICE_INCREASE" { return true }
        }
        let step = try plan.object("priceStepUpConsentDetails")?.text("state")
        return step?.hasSuffix("PENDING") == true
    }
}

/// The envelope of an error.
///
/// <https://developers.google.com/android-publisher/errors>
struct GoogleErrorBody: Decodable, Sendable {
    let error: Content

    struct Content: Decodable, Sendable {
        let status: String?
        let errors: [Detail]?
    }

    struct Detail: Decodable, Sendable {
        let reason: String?
    }
}
