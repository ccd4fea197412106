import Curl
import Renewal

/// A stretch of the notification history that is being read, in milliseconds since 1970.
struct AppleHistoryWindow: Codable, Hashable, Sendable {
    var start: Int64
    var end: Int64
    /// Asks for the next page. The stretch stays the same meanwhile.
    var token: String?
}

/// Where the reading of the notification history stands, for each environment. Its text is opaque
/// to whoever stores it.
struct AppleHistoryPosition: Codable, Hashable, Sendable {
    struct Place: Codable, Hashable, Sendable {
        /// All up to here has been read.
        var readUpTo: Int64
        var window: AppleHistoryWindow?
        /// What was read of the last minutes, which are read again.
        var seen: [String] = []
        /// What Apple's clock is ahead of the database's, in milliseconds, by its last answer.
        var skew: Int64?
        /// Apple did not take the beginning of the stretch, and another one has not been read yet.
        var isBegunAgain: Bool?
    }

    var production: Place?
    var sandbox: Place?

    /// A text that cannot be read is a beginning: hints are no evidence that could be lost.
    init(text: String?) {
        let read = text.flatMap { try? JSON.decode(AppleHistoryPosition.self, from: $0.utf8) }
        production = read?.production
        sandbox = read?.sandbox
    }

    var text: String { String(decoding: JSON.encode(self), as: UTF8.self) }

    subscript(_ environment: StoreEnvironment) -> Place? {
        get {
            switch environment {
            case .production: production
            case .sandbox: sandbox
            }
        }
        set {
            switch environment {
            case .production: production = newValue
            case .sandbox: sandbox = newValue
            }
        }
    }
}

/// Pulls the notifications that Apple has sent, or tried to send, to the app's server. They are
/// hints and no more: each makes one purchase due.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/get-notification-history>
struct AppleNotificationHistory: Sendable {
    let verifier: AppleVerifier
    let bundleID: AppID
    let api: AppleAPI
    let now: Timestamp

    /// One page of each environment. An environment that cannot be read keeps its place; where it
    /// has none yet, it begins there as soon as it can be.
    ///
    /// - Returns: what was read, and what production said where it could not be: who buys is there.
    ///   Before an app's first release it refuses what the sandbox takes.
    /// - Throws: what production said, when no environment could be read.
    func pull(after text: String?) async throws(StoreFailure) -> HintPage {
        let known = AppleHistoryPosition(text: text)
        var position = known
        var page = HintPage(hints: [])
        var failures: [StoreEnvironment: StoreFailure] = [:]
        for environment in StoreEnvironment.allCases {
            do throws(StoreFailure) {
                let read = try await self.page(of: environment, at: position[environment])
                position[environment] = read.place
                for news in read.news { news.add(to: &page) }
                if read.place.window != nil { page.hasMore = true }
            } catch {
                failures[environment] = error
                position[environment] =
                    position[environment] ?? AppleHistoryPosition.Place(readUpTo: present(nil))
            }
        }
        let isUnread = failures.count == StoreEnvironment.allCases.count
        if isUnread, position == known, let failure = failures[.production] { throw failure }
        page.failure = failures[.production]
        if !isUnread, case .refused = page.failure { page.failure = nil }
        page.position = position.text
        return page
    }

    /// By Apple's clock, which dates the news, as far as it is known.
    private func present(_ place: AppleHistoryPosition.Place?) -> Int64 {
        now.microsecondsSinceEpoch / 1000 + (place?.skew ?? 0)
    }

    private struct Page {
        let place: AppleHistoryPosition.Place
        var news: [AppleNews] = []
    }

    private func page(
        of environment: StoreEnvironment, at place: AppleHistoryPosition.Place?
    ) async throws(StoreFailure) -> Page {
        let present = present(place)
        var place = place ?? AppleHistoryPosition.Place(readUpTo: present)
        let window = place.window ?? window(after: place.readUpTo, environment, present)
        var calls = AppleCalls(api, at: now, isFirst: false)
        let response = try await calls.response(to: .notifications(window), from: environment)
        switch AppleReply(response, at: now) {
        case .answer(let answer):
            let body = try JSON.decode(AppleNotificationPage.self, from: answer.bytes)
            let reader = AppleReader(
                verifier: verifier, bundleID: bundleID, environment: environment,
                time: AppleTime(now: now, told: answer.date))
            let news = try await news(in: body, reader, besides: place.seen)
            place.isBegunAgain = nil
            place.seen = Array((place.seen + news.compactMap(\.memory)).suffix(memory))
            place.advance(past: window, to: body.hasMore == true ? body.paginationToken : nil)
            place.learn(response.storeNow, at: now, hasRead: place.window == nil)
            // A stretch ends well before the present when much is to be made up for.
            if place.window == nil, window.end < present - overlap {
                place.window = self.window(after: place.readUpTo, environment, present)
            }
            return Page(place: place, news: news)
        case .failed where Self.isStale(response.status, AppleReply.errorCode(response)):
            // The page's token or the beginning is too old, or, by a clock that is off, of the
            // future: the stretch is begun again, once.
            guard place.isBegunAgain != true else {
                throw .malformed(field: "status \(response.status), of what was begun again")
            }
            place.isBegunAgain = true
            place.window = nil
            place.readUpTo = max(place.readUpTo, present - memoryOfApple(environment))
            place.learn(response.storeNow, at: now, hasRead: false)
            return Page(place: place)
        case .failed(let failure): throw failure
        case .unauthorized: throw .refused(reason: "status 401")
        case .notFound, .invalidIdentifier: throw .malformed(field: "status \(response.status)")
        }
    }

    private func window(
        after mark: Int64, _ environment: StoreEnvironment, _ present: Int64
    ) -> AppleHistoryWindow {
        let earliest = present - memoryOfApple(environment)
        let start = max(min(max(mark, earliest), present) - overlap, earliest)
        return AppleHistoryWindow(start: start, end: min(start + day, present))
    }

    /// What was seen before is known by what the payload says of itself, and its signature is not
    /// looked at: who forges that only has the forgery overlooked. Retries share their id.
    private func news(
        in body: AppleNotificationPage, _ reader: AppleReader, besides seen: [String]
    ) async throws(StoreFailure) -> [AppleNews] {
        let items = body.notificationHistory ?? []
        guard items.count <= itemLimit else { throw .malformed(field: "notificationHistory") }
        var found: [AppleNews] = []
        var known = Set(seen)
        for item in items {
            let text = item.value?.signedPayload?.value ?? ""
            let claimed = AppleNotification(unverified: text)
            let uuid = claimed?.notificationUUID ?? NewsID(unnamed: text)
            guard !known.contains(uuid.prefixForMemory) else { continue }
            let news = await reader.news(text, named: uuid)
            // A forgery must not have the real one overlooked.
            if news.isReadable || claimed == nil { known.insert(uuid.prefixForMemory) }
            found.append(news)
        }
        return found
    }

    /// <https://developer.apple.com/documentation/appstoreserverapi/error-codes>
    private static func isStale(_ status: Int, _ code: Int64?) -> Bool {
        status == 400 && [4_000_012, 4_000_013, 4_000_014, 4_000_017].contains(code)
    }

    private func memoryOfApple(_ environment: StoreEnvironment) -> Int64 {
        switch environment {
        case .production: 180 * day - 2 * overlap
        case .sandbox: 30 * day - 2 * overlap
        }
    }

    private let day: Int64 = 86_400_000
    /// Notifications may show up a little late.
    private let overlap: Int64 = 300_000
    private let memory = 500
    private let itemLimit = 1000
}

extension AppleHistoryPosition.Place {
    /// A token that comes again would go round in circles: the stretch ends there.
    fileprivate mutating func advance(past window: AppleHistoryWindow, to token: String?) {
        if let token, token != window.token {
            self.window = AppleHistoryWindow(start: window.start, end: window.end, token: token)
        } else {
            self.window = nil
            readUpTo = window.end
        }
    }
}

extension AppleHistoryPosition.Place {
    /// Takes the time from an answer. What is dated later than that was not read, whatever our own
    /// clock says; where an answer does not say it, the last hour is read again.
    fileprivate mutating func learn(_ told: Timestamp?, at now: Timestamp, hasRead: Bool) {
        let moment = Moment(now: now, jitter: 0, storeNow: told)
        guard moment.proven != moment.unproven, let told else {
            if hasRead { readUpTo -= 3_600_000 }
            return
        }
        skew = moment.problem == nil ? nil : (told - now).microseconds / 1000
        readUpTo = min(readUpTo, told.microsecondsSinceEpoch / 1000)
    }
}

extension NewsID {
    /// Enough of a UUID to know it again.
    var prefixForMemory: String { String(text.prefix(13)) }
}

/// A page of the notification history: at most 20.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/notificationhistoryresponse>
struct AppleNotificationPage: Decodable, Sendable {
    let paginationToken: String?
    let hasMore: Bool?
    /// One that cannot be read keeps no other from being heard.
    let notificationHistory: [Tolerant<Item>]?

    struct Item: Decodable, Sendable {
        let signedPayload: LooseText?
    }
}
