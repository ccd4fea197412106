import Curl
import Renewal
import TestSupport

/// verifyReceipt: the status, then the transactions, each after a plus sign, and what is said of
/// the renewal: `0 + 30 + 60 trial + pending off`. What is `embedded` stands in the receipt alone. With
/// `ios6` there is one transaction, in the form of iOS 6. `ms=2` moves an end by two milliseconds.
enum AppleReceiptWire {
    static func result(
        _ text: String, in environment: String, at day: Timestamp
    ) throws -> Result<HTTPResponse, CurlError> {
        let trouble = try Trouble(
            Words(text), insteadOf: try body("0 + 30", in: environment, at: day)
        ) { _, _ in "" }
        return try trouble?.result ?? .success(.json(try body(text, in: environment, at: day)))
    }

    static func body(_ text: String, in environment: String, at day: Timestamp) throws -> String {
        let parts = text.split(separator: " + ").map { Words($0) }
        guard let head = parts.first, let status = head.plain.first.flatMap({ Int($0) }) else {
            throw UnreadableCell(cell: text)
        }
        try head.require(
            plain: ["\(status)", "ios6", "in_app", "empty", "unnamed"],
            keys: ["app", "retryable", "environment", "asked"])
        var json = JSONText()
        json["status"] = status
        if let flag = head["retryable"] { json["is_retryable"] = flag == "true" }
        guard status == 0 || status == 21006 else { return try json.text }
        let sold = parts.dropFirst().filter { !$0.has("pending") }
        let rows = try sold.filter { !$0.has("embedded") }.map(transaction)
        let embedded = try sold.filter { $0.has("embedded") }.map(transaction)
        let pending = parts.filter { $0.has("pending") }
        if head.has("ios6") {
            try putOld(rows, pending.first, head, into: &json)
            return try json.text
        }
        json["environment"] = head["environment"] ?? environment
        var receipt: [String: Any] = [
            "receipt_type": environment == "Production" ? environment : "ProductionSandbox",
            "bundle_id": head["app"] ?? Shop.bundle.text, "application_version": "3",
            "receipt_creation_date_ms": String(TestCalendar.start.milliseconds),
            "request_date_ms": String(try (head.time("asked") ?? day).milliseconds),
        ]
        receipt["in_app"] = (head.has("in_app") ? rows : Array(rows.prefix(1))) + embedded
        json["receipt"] = receipt
        if !head.has("in_app") { json["latest_receipt_info"] = rows }
        if !pending.isEmpty { json["pending_renewal_info"] = try pending.map(renewal) }
        return try json.text
    }

    private static func putOld(
        _ rows: [[String: Any]], _ pending: Words?, _ head: Words, into json: inout JSONText
    ) throws {
        func old(_ row: [String: Any]?) throws -> [String: Any] {
            guard var row else { throw UnreadableCell(cell: "ios6") }
            row["bid"] = head["app"] ?? Shop.bundle.text
            row["expires_date"] = row.removeValue(forKey: "expires_date_ms")
            row["subscription_group_identifier"] = nil
            return row
        }
        let row = try old(rows.last)
        json["receipt"] = try old(rows.first)
        let isExpired = json["status"] as? Int == 21006
        let latest = isExpired ? "latest_expired_receipt_info" : "latest_receipt_info"
        json[latest] = head.has("unnamed") ? row.filter { $0.key != "bid" } : row
        guard let pending else { return }
        for (key, value) in try renewal(pending) where key != "product_id" { json[key] = value }
        json["auto_renew_status"] = pending.has("off") ? 0 : 1
    }

    private static func transaction(_ words: Words) throws -> [String: Any] {
        try words.require(
            plain: Set(words.plain.prefix(1)).union([
                "trial", "intro", "upgraded", "family", "assigned", "embedded",
            ]),
            keys: [
                "product", "original", "tx", "line", "cancelled", "reason", "bought", "group",
                "account", "first", "ms",
            ])
        guard let first = words.plain.first else { throw UnreadableCell(cell: "transaction") }
        let expires = first == "bought" ? nil : try TestCalendar.time(first)
        let original = "42000101010100" + (words["original"] ?? "1")
        let minutes = expires.map { ($0 - TestCalendar.start).components.seconds / 60 } ?? 0
        let bought =
            try words.time("bought") ?? expires.map { $0 - .days(30) } ?? TestCalendar.start
        var row: [String: Any] = [
            "quantity": "1", "product_id": words["product"] ?? "plus",
            "transaction_id": words["tx"].map { "42000101010100" + $0 }
                ?? (expires == nil ? original : String(420_009_900_000_000 + minutes)),
            "original_transaction_id": original,
            "purchase_date_ms": String(bought.milliseconds),
            "original_purchase_date_ms": String(
                (try words.time("first") ?? TestCalendar.start).milliseconds),
            "is_trial_period": words.has("trial") ? "true" : "false",
            "in_app_ownership_type": words.has("family")
                ? "FAMILY_SHARED" : words.has("assigned") ? "ASSIGNED" : "PURCHASED",
        ]
        if let expires {
            let more = words["ms"].flatMap { Int64($0) } ?? 0
            row["expires_date_ms"] = String(expires.milliseconds + more)
            row["is_in_intro_offer_period"] = words.has("intro") ? "true" : "false"
            row["web_order_line_item_id"] =
                words["line"] ?? String(420_019_900_000_000 + minutes)
            row["subscription_group_identifier"] = words["group"] ?? "21000001"
        }
        if words.has("upgraded") { row["is_upgraded"] = "true" }
        row["app_account_token"] = words["account"]
        if let cancelled = try words.time("cancelled") {
            row["cancellation_date_ms"] = String(cancelled.milliseconds)
            row["cancellation_reason"] = words["reason"] ?? "0"
        }
        return row
    }

    private static func renewal(_ words: Words) throws -> [String: Any] {
        try words.require(
            plain: ["pending", "off", "retry"],
            keys: ["intent", "grace", "next", "price", "original", "product"])
        var row: [String: Any] = [
            "product_id": words["product"] ?? "plus",
            "original_transaction_id": "42000101010100" + (words["original"] ?? "1"),
            "auto_renew_product_id": words["next"] ?? words["product"] ?? "plus",
            "auto_renew_status": words.has("off") ? "0" : "1",
        ]
        if let intent = words["intent"] { row["expiration_intent"] = intent }
        if words.has("retry") { row["is_in_billing_retry_period"] = "1" }
        if let price = words["price"] { row["price_increase_status"] = price }
        if let grace = try words.time("grace") {
            row["grace_period_expires_date_ms"] = String(grace.milliseconds)
        }
        return row
    }
}
