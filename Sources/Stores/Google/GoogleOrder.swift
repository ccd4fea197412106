package import Renewal

/// One charge, as Google Play's order management shows it: for support, and to find the purchase
/// that an order belongs to.
///
/// <https://developers.google.com/android-publisher/api-ref/rest/v3/orders>
package struct GoogleOrder: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    /// Such as `GPA.3301-7742-9918-40211..0`.
    package let id: OrderID
    /// The same without the number of a renewal: what `Facts.originalID` holds.
    package let baseID: OrderID
    /// The token of the purchase. A secret.
    package let token: StoreToken?
    /// `PENDING`, `PROCESSED`, `CANCELED`, `PENDING_REFUND`, `PARTIALLY_REFUNDED` or `REFUNDED`, as
    /// Google writes it.
    package let state: String
    package let products: [ProductID]
    package let createdAt: Timestamp?
    /// Nil when no refund of the whole is recorded.
    package let refundedAt: Timestamp?
    /// What was given back of it so far, where that is not all.
    package var part: RefundedPart?
    /// When the last of that was given back; nil where it is not told.
    var partAt: Timestamp?

    package var description: String { "order \(id), \(state)" }
    package var customMirror: Mirror { Mirror(self, children: ["id": id, "state": state]) }
}

extension GoogleStore {
    /// Looks an order up for support.
    ///
    /// - Parameters:
    ///   - orderID: a base id or a recurring one, as users find it in their mails.
    ///   - now: by the database's clock.
    /// - Returns: the order itself, or, where a renewal is not known, the sign-up that it belongs
    ///   to; nil when Google knows neither.
    /// - Throws: when there was no usable answer.
    package func lookUp(
        orderID: OrderID, at now: Timestamp
    ) async throws(StoreFailure) -> GoogleOrder? {
        if let order = try await order(orderID, at: now) { return order }
        let base = GoogleOrderID.base(of: orderID)
        guard base != orderID else { return nil }
        await client.transport.beforeExtraCall()
        return try await order(base, at: now)
    }

    /// Nil when there is no such order.
    func order(
        _ id: OrderID, at now: Timestamp
    ) async throws(StoreFailure) -> GoogleOrder? {
        switch try await client.get(try paths.order(id), calling: "orders.get", at: now) {
        case .answer(let body):
            let order = try JSON.decode(GoogleOrderWire.self, from: body).order(at: now)
            guard order.id == id else { throw .mismatch(what: "order") }
            return order
        case .failed(.rejected): return nil
        case .gone: return nil
        case .staleToken: throw .refused(reason: "status 401")
        case .failed(let failure): throw failure
        }
    }

    /// An answer about a purchase does not name its token, but its orders do: an answer with
    /// orders of another series is about this purchase only if Google says so of such an order.
    /// One that was swapped on the way can so neither give nor take access, and one whose series
    /// was numbered anew is believed at once.
    ///
    /// Throws `.mismatch` without that proof, whatever the reason, because access to orders may be
    /// refused where access to purchases is not.
    func prove(
        _ orderID: OrderID, isOf purchase: Purchase, at now: Timestamp
    ) async throws(StoreFailure) {
        await client.transport.beforeExtraCall()
        let order: GoogleOrder?
        do throws(StoreFailure) {
            order = try await self.order(orderID, at: now)
        } catch {
            if case .throttled = error { throw error }
            throw .mismatch(what: "purchase")
        }
        guard let order, order.token == purchase.token else { throw .mismatch(what: "purchase") }
    }
}

/// The answer of `orders.get`.
struct GoogleOrderWire: Decodable, Sendable {
    let orderId: OrderID?
    let purchaseToken: StoreToken?
    let state: String?
    /// RFC 3339.
    let createTime: String?
    let orderHistory: History?
    let lineItems: [LineItem]?
    let total: Tolerant<GoogleMoney>?

    struct History: Decodable, Sendable {
        let refundEvent: Event?
        let partialRefundEvents: Tolerant<[Tolerant<PartialRefund>]>?
    }

    struct PartialRefund: Decodable, Hashable, Sendable {
        /// RFC 3339.
        let processTime: LooseText?
        let createTime: LooseText?
        /// `PENDING` or `PROCESSED_SUCCESSFULLY`.
        let state: LooseText?
        let refundDetails: Tolerant<Details>?

        struct Details: Decodable, Hashable, Sendable {
            let total: Tolerant<GoogleMoney>?
        }
    }

    struct Event: Decodable, Sendable {
        let eventTime: String?
    }

    struct LineItem: Decodable, Sendable {
        let productId: ProductID?
    }

    func order(at now: Timestamp) throws(StoreFailure) -> GoogleOrder {
        guard let orderId, !orderId.isEmpty else { throw .malformed(field: "orderId") }
        guard let state else { throw .malformed(field: "state") }
        let window = DateWindow(now: now)
        var order = GoogleOrder(
            id: orderId, baseID: GoogleOrderID.base(of: orderId), token: purchaseToken,
            state: state, products: (lineItems ?? []).compactMap(\.productId),
            createdAt: try window.past(rfc3339: createTime, field: "createTime"),
            refundedAt: try window.past(
                rfc3339: orderHistory?.refundEvent?.eventTime,
                field: "orderHistory.refundEvent.eventTime"))
        if state == "PARTIALLY_REFUNDED", order.refundedAt == nil {
            order.part = part
            order.partAt = parts.compactMap { part in
                try? window.past(
                    rfc3339: part.processTime?.value ?? part.createTime?.value, field: "")
            }.max()
        }
        return order
    }

    private var events: [PartialRefund?] {
        orderHistory?.partialRefundEvents?.value?.map(\.value) ?? []
    }

    private var parts: [PartialRefund] {
        events.compactMap(\.self).filter { $0.state?.value != "PENDING" }
    }

    /// Nil while none of it has gone back. How much, is told where every amount can be read.
    private var part: RefundedPart? {
        guard !parts.isEmpty || events.isEmpty || events.contains(nil) else { return nil }
        let amounts = parts.compactMap { $0.refundDetails?.value?.total?.value?.money }
        guard !parts.isEmpty, amounts.count == parts.count, !events.contains(nil),
            let amount = Money.sum(amounts)
        else { return RefundedPart() }
        return RefundedPart(
            amount: amount, share: total?.value?.money.flatMap { amount.share(of: $0) })
    }
}
