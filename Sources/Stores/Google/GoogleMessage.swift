import Renewal

/// A message of Pub/Sub, and what is made of the notification in it.
struct GoogleMessage: Decodable {
    /// Base64.
    let data: String?
    let messageId: String?
    /// As messages that are pushed have it.
    let message_id: String?
    let publishTime: LooseText?

    /// A message that cannot be read, or that is about another app than `app`, is counted and
    /// recorded; so is one that names no purchase where it should. `now` is by the database's
    /// clock.
    func add(to page: inout HintPage, of app: AppID, at now: Timestamp) {
        guard let id = messageId ?? message_id, NewsID(id).isReadable(),
            let data = Self.bytes(data),
            let notification = try? JSON.decode(GoogleNotification.self, from: data),
            notification.packageName == app
        else {
            return Self.addUnreadable(to: &page, messageId ?? message_id ?? data ?? "no data")
        }
        let sentAt = publishTime?.value.flatMap { CalendarTime.timestamp(rfc3339: $0) }
        let hint = notification.hint(id)
        let question = notification.question(id, sentAt: sentAt, at: now)
        let ruling = notification.ruling(id)
        let unhandled = notification.unhandled(id)
        let isHandled = hint != nil || question != nil || ruling != nil || !unhandled.isEmpty
        if !isHandled || hint == nil && notification.namesNoToken {
            Self.addUnreadable(to: &page, id)
        }
        if let hint { page.hints.append(hint) }
        if let question { page.questions.append(question) }
        if let ruling { page.rulings.append(ruling) }
        page.unhandled += unhandled
    }

    static func addUnreadable(to page: inout HintPage, _ id: String) {
        page.skipped += 1
        page.unhandled.append(
            UnhandledNews(
                id: "google unhandled \(id)", type: UnhandledNews.unreadable, isExpected: false))
    }

    /// Either alphabet, padded or not.
    private static func bytes(_ data: String?) -> [UInt8]? {
        guard let data else { return nil }
        let text = data.utf8.prefix { $0 != UInt8(ascii: "=") }
        return Base64.decodeStandard(text) ?? Base64.decodeURLSafe(text)
    }
}
