import Curl
import Renewal

/// A question to the App Store Server API: a path with its query, and a body where it has one.
struct AppleRequest: Sendable {
    /// As Apple's documentation calls it.
    let name: String
    let path: String
    let method: HTTPMethod
    var body: [UInt8]?

    private init(
        _ name: String, _ path: String, query: [(String, String)] = [],
        method: HTTPMethod = .get, body: [UInt8]? = nil
    ) {
        self.name = name
        self.method = method
        let pairs = query.map { "\($0.0)=\(PercentEncoding.queryValue($0.1))" }
        self.path = "/inApps/" + path + (pairs.isEmpty ? "" : "?" + pairs.joined(separator: "&"))
        self.body = body
    }

    /// Get All Subscription Statuses: every subscription of the customer in the app.
    static func statuses(of id: OrderID) throws(StoreFailure) -> AppleRequest {
        AppleRequest("Get All Subscription Statuses", "v1/subscriptions/" + (try segment(id)))
    }

    /// Get Transaction Info: one transaction of any kind of product.
    static func transaction(_ id: OrderID) throws(StoreFailure) -> AppleRequest {
        AppleRequest("Get Transaction Info", "v1/transactions/" + (try segment(id)))
    }

    /// Get Transaction History v2. The filters stay the same from page to page.
    static func history(
        of id: OrderID, _ filter: HistoryFilter, revision: String?
    ) throws(StoreFailure) -> AppleRequest {
        var query: [(String, String)] = []
        switch filter {
        case .product(let product): query = [("sort", "DESCENDING"), ("productId", product.text)]
        case .group(let group):
            query = [
                ("productType", "AUTO_RENEWABLE"), ("subscriptionGroupIdentifier", group.text),
            ]
        }
        if let revision { query.append(("revision", revision)) }
        return AppleRequest(
            "Get Transaction History", "v2/history/" + (try segment(id)), query: query)
    }

    enum HistoryFilter: Hashable, Sendable {
        /// Latest change first.
        case product(ProductID)
        case group(GroupID)
    }

    /// Get Refund History v2.
    static func refunds(of id: OrderID, revision: String?) throws(StoreFailure) -> AppleRequest {
        let query = revision.map { [("revision", $0)] } ?? []
        return AppleRequest(
            "Get Refund History", "v2/refund/lookup/" + (try segment(id)), query: query)
    }

    /// Look Up Order ID. Production only.
    static func order(_ id: OrderID) throws(StoreFailure) -> AppleRequest {
        AppleRequest(
            "Look Up Order ID", "v1/lookup/" + (try PathSegment(id.text, what: "order id")).text)
    }

    /// Get Notification History. The body stays the same from page to page.
    static func notifications(_ window: AppleHistoryWindow) -> AppleRequest {
        let body = NotificationBody(startDate: window.start, endDate: window.end)
        return AppleRequest(
            "Get Notification History", "v1/notifications/history",
            query: window.token.map { [("paginationToken", $0)] } ?? [], method: .post,
            body: JSON.encode(body))
    }

    /// Send Consumption Information.
    static func consumption(
        of id: OrderID, _ content: AppleConsumption
    ) throws(StoreFailure) -> AppleRequest {
        AppleRequest(
            "Send Consumption Information", "v2/transactions/consumption/" + (try segment(id)),
            method: .put, body: JSON.encode(content))
    }

    private struct NotificationBody: Encodable {
        let startDate: Int64
        let endDate: Int64
    }

    func http(at host: StoreHost, token: AppleToken) -> HTTPRequest {
        let authorization = HTTPHeader("Authorization", "Bearer " + token.text)
        guard let body else { return host.request(path: path, headers: [authorization]) }
        var request = host.request(
            path: path, headers: [authorization, HTTPHeader("Content-Type", "application/json")])
        request.method = method
        request.body = body
        return request
    }

    private static func segment(_ id: OrderID) throws(StoreFailure) -> String {
        try PathSegment(id.text, what: "transaction id").text
    }
}
