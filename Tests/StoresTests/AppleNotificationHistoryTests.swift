import Crypto
import Curl
import Foundation
import Renewal
import StoreFixtures
import Synchronization
import Testing

@testable import Stores

/// Apple's notification history as hints, and the look-up of orders.
struct AppleNotificationHistoryTests {
    private static let now = AppleFixture.now

    static let key = AppleAPIKey(
        issuerID: "3f0b", keyID: "7KQ2",
        privateKeyPEM: Secret(P256.Signing.PrivateKey().pemRepresentation))

    private func store(_ world: FakeWorld) throws -> AppleStore { try Self.store(world) }

    static func store(_ world: FakeWorld) throws -> AppleStore {
        try AppleStore(
            credentials: AppleCredentials(
                bundleID: "com.example.reader",
                apiKey: key),
            production: try #require(StoreHost(baseURL: "https://apple.example")),
            sandbox: try #require(StoreHost(baseURL: "https://sandbox.example")),
            verifier: try AppleFixture.verifier(), transport: world.transport)
    }

    /// A signed notification about a subscription.
    private static func item(
        _ uuid: String, _ original: String, type: String = "DID_RENEW",
        environment: String = "Production", bundle: String = "com.example.reader",
        transaction: String? = nil, by authority: AppleAuthority? = nil
    ) throws -> String {
        let inner =
            try transaction
            ?? AppleFixture.signed(
                #"{"originalTransactionId":"\#(original)","environment":"\#(environment)"}"#)
        let payload = #"""
            {"notificationType":"\#(type)","notificationUUID":"\#(uuid)","version":"2.0",
            "signedDate":1774000000000,"data":{"bundleId":"\#(bundle)","appAppleId":1,
            "environment":"\#(environment)","status":1,"signedTransactionInfo":"\#(inner)"}}
            """#
        let text = try (authority ?? AppleAuthority.trusted.get()).sign(Array(payload.utf8))
        return #"{"signedPayload":"\#(text)","sendAttempts":[{"sendAttemptResult":"NEWS"}]}"#
    }

    static func page(_ items: [String], token: String? = nil) -> String {
        let next =
            token.map { #","hasMore":true,"paginationToken":"\#($0)""# } ?? #","hasMore":false"#
        return #"{"notificationHistory":[\#(items.joined(separator: ","))]\#(next)}"#
    }

    private func world(
        sandbox: String = #"{"hasMore":false}"#,
        _ script: @escaping @Sendable (String) throws(CurlError) -> HTTPResponse
    ) -> FakeWorld {
        FakeWorld(clock: Self.now) { request async throws(CurlError) in
            guard request.url.hasPrefix("https://apple.example/inApps/v1/notifications/history")
            else { return .json(sandbox) }
            return try script(String(request.url.drop { $0 != "?" }))
        }
    }

    private static func ids(_ page: HintPage) -> [String] {
        page.hints.map { hint in
            switch hint.subject {
            case .originalID(let id): "\(hint.id) \(id)"
            case .token: "\(hint.id) token"
            }
        }
    }

    @Test func makesAHintOfEachNotification() async throws {
        let items = try [
            Self.item("a", "11"), Self.item("b", "22", type: "REFUND"),
            Self.item("a", "11"), Self.item("c", "33", type: "OF_ANOTHER_AGE"),
            Self.item("d", "44", type: "TEST"), Self.item("e", "55", type: "CONSUMPTION_REQUEST"),
        ]
        let sandbox = Self.page([try Self.item("s", "99", environment: "Sandbox")])
        let world = world(sandbox: sandbox) { _ in .json(Self.page(items)) }
        let page = try await store(world).hints(after: nil, at: Self.now)
        #expect(Self.ids(page) == ["a 11", "b 22", "c 33", "s 99"])
        #expect(!page.hasMore && page.position != nil)
        #expect(world.requests.allSatisfy { $0.method == .post })
        #expect(world.extraCalls == 2)
    }

    @Test func skipsWhatIsForgedOrCannotBeRead() async throws {
        let items = try [
            Self.item("a", "11", by: AppleAuthority()),
            Self.item("b", "22", bundle: "com.example.other"),
            Self.item("c", "33", environment: "Sandbox"),
            Self.item("d", "44", transaction: "a.b.c"),
            Self.item(
                "e", "55",
                transaction: AppleFixture.signed(#"{"bundleId":"com.example.other"}"#)),
            #"{"signedPayload":"a.b.c"}"#, "null", Self.item("f", "66"),
        ]
        let world = world { _ in .json(Self.page(items)) }
        let page = try await store(world).hints(after: nil, at: Self.now)
        #expect(Self.ids(page) == ["f 66"])
        #expect(page.skipped == 7)
        #expect(page.unhandled.map(\.type) == Array(repeating: "unreadable", count: 7))
        #expect(Set(page.unhandled.map(\.id)).count == 7)
    }

    /// The last minutes come again with each pull: their signatures are checked once, and what is
    /// inside of a notification is vouched for by its signature.
    @Test func verifiesEachNotificationOnce() async throws {
        let items = try [
            Self.item("a", "11"), Self.item("b", "22", type: "REFUND"), Self.item("a", "11"),
            Self.item("d", "44", type: "TEST"),
        ]
        let later = try Self.item("c", "33")
        let world = FakeWorld(clock: Self.now) { request async throws(CurlError) in
            guard request.url.contains("apple.example"), let body = request.body else {
                return .json(#"{"hasMore":false}"#)
            }
            let isFirst = String(decoding: body, as: UTF8.self).contains("1774008000000,")
            return .json(Self.page(isFirst ? items : items + [later]))
        }
        let verifier = try AppleVerifier(roots: [AppleAuthority.trusted.get().root])
        let api = AppleAPI(
            hosts: [
                .production: try #require(StoreHost(baseURL: "https://apple.example")),
                .sandbox: try #require(StoreHost(baseURL: "https://sandbox.example")),
            ], tokens: try AppleTokens(Self.key, bundleID: "com.example.reader"),
            transport: world.transport)
        var position: String?
        var told: [[String]] = []
        var reads: [Int] = []
        for seconds in [Int64(0), 60, 120] {
            let pull = try await AppleNotificationHistory(
                verifier: verifier, bundleID: "com.example.reader", api: api,
                now: Self.now + .seconds(seconds)
            ).pull(after: position)
            position = pull.position
            told.append(Self.ids(pull))
            reads.append(verifier.readCount)
        }
        #expect(told == [["a 11", "b 22"], ["c 33"], []])
        #expect(reads == [3, 4, 4])
    }

    /// Only what has held is known again: a forgery cannot have the real one overlooked.
    @Test func believesTheRealOneAfterAForgeryOfItsName() async throws {
        let forged = try Self.item("a", "11", by: AppleAuthority())
        let real = try Self.item("a", "11")
        let world = world { _ in .json(Self.page([forged, real])) }
        let page = try await store(world).hints(after: nil, at: Self.now)
        #expect(Self.ids(page) == ["a 11"] && page.skipped == 1)
    }

    @Test func readsPageAfterPageWithOneBody() async throws {
        let first = try Self.item("a", "11")
        let second = try Self.item("b", "22")
        let world = world { query in
            query.isEmpty
                ? .json(Self.page([first], token: "t/1"))
                : .json(Self.page(query == "?paginationToken=t%2F1" ? [second] : []))
        }
        let store = try store(world)
        let one = try await store.hints(after: nil, at: Self.now)
        #expect(one.hasMore && Self.ids(one) == ["a 11"])
        let two = try await store.hints(after: one.position, at: Self.now + .seconds(5))
        #expect(!two.hasMore && Self.ids(two) == ["b 22"])
        let bodies = world.requests.filter { $0.url.contains("apple.example") }.map(\.body)
        #expect(bodies.count == 2 && bodies[0] == bodies[1])
        #expect(
            String(decoding: bodies[0] ?? [], as: UTF8.self)
                == #"{"endDate":1774008000000,"startDate":1774007700000}"#)
    }

    @Test func readsTheLastMinutesAgainAndTellsOnlyWhatIsNew() async throws {
        let items = try [Self.item("a", "11"), Self.item("b", "22")]
        let world = world { _ in .json(Self.page(items)) }
        let store = try store(world)
        let one = try await store.hints(after: nil, at: Self.now)
        let two = try await store.hints(after: one.position, at: Self.now + .seconds(60))
        #expect(Self.ids(one).count == 2 && two.hints.isEmpty)
        let body = world.requests.last { $0.url.contains("apple.example") }?.body
        #expect(
            String(decoding: body ?? [], as: UTF8.self)
                == #"{"endDate":1774008060000,"startDate":1774007700000}"#)
    }

    /// Windows follow Apple's clock: what it dates is in them, whatever the database's says.
    @Test(arguments: [3600, -3600, 0])
    func readsByApplesClock(ahead: Int64) async throws {
        let apple = Mutex(Self.now)
        let windows = Mutex<[AppleHistoryWindow]>([])
        let world = FakeWorld(clock: Self.now) { request async throws(CurlError) in
            let now = apple.withLock(\.self)
            guard request.url.hasPrefix("https://apple.example"), let body = request.body,
                let asked = try? JSON.decode(Asked.self, from: body)
            else { return .json(#"{"hasMore":false}"#).dated(now) }
            let end = min(asked.endDate, now.microsecondsSinceEpoch / 1000)
            guard asked.startDate < end else {
                return .json(#"{"errorCode":4000013}"#, status: 400).dated(now)
            }
            windows.withLock { $0.append(AppleHistoryWindow(start: asked.startDate, end: end)) }
            return .json(Self.page([])).dated(now)
        }
        let store = try store(world)
        var position: String?
        for _ in 0..<6 {
            let now = apple.withLock(\.self) + .seconds(ahead)
            position = try await store.hints(after: position, at: now).position
            apple.withLock { $0 = $0 + .minutes(1) }
        }
        // From the second pull on nothing is left out between two windows, and none is late.
        let read = windows.withLock(\.self)
        #expect(read.count >= 4)
        for (before, after) in zip(read.dropFirst(), read.dropFirst(2)) {
            #expect(after.start <= before.end)
        }
        let last = apple.withLock(\.self).microsecondsSinceEpoch / 1000
        #expect(try #require(read.last).end >= last - 120_000)
    }

    private struct Asked: Decodable {
        let startDate: Int64
        let endDate: Int64
    }

    /// After a long silence it reads day by day, and no further back than Apple remembers.
    @Test func makesUpForALongSilenceInStretches() async throws {
        let world = world { _ in .json(Self.page([])) }
        let store = try store(world)
        var page = try await store.hints(after: nil, at: Self.now)
        let later = Self.now + .days(400)
        world.advance(.days(400))
        var calls = 0
        repeat {
            page = try await store.hints(after: page.position, at: later)
            calls += 1
        } while page.hasMore && calls < 300
        #expect((179...182).contains(calls))
    }

    /// The token of a page has expired, or the beginning lies too far back.
    @Test(arguments: [4_000_012, 4_000_014, 4_000_017])
    func beginsAStretchAgain(code: Int) async throws {
        let item = try Self.item("a", "11")
        let world = world { query in
            query.isEmpty
                ? .json(Self.page([item], token: "t"))
                : .json(#"{"errorCode":\#(code)}"#, status: 400)
        }
        let store = try store(world)
        let one = try await store.hints(after: nil, at: Self.now)
        let two = try await store.hints(after: one.position, at: Self.now)
        let three = try await store.hints(after: two.position, at: Self.now)
        #expect(two.hints.isEmpty && three.hasMore)
        #expect([one, two, three].allSatisfy { $0.failure == nil })
    }

    /// What Apple takes of no stretch is no reading.
    @Test func beginsAStretchAgainOnlyOnce() async throws {
        let world = world { _ in .json(#"{"errorCode":4000017}"#, status: 400) }
        let store = try store(world)
        let one = try await store.hints(after: nil, at: Self.now)
        let two = try await store.hints(after: one.position, at: Self.now)
        #expect(one.failure == nil && two.failure?.problem.code == .malformed)
    }

    @Test func doesNotGoRoundInCircles() async throws {
        let world = world { _ in .json(Self.page([], token: "same")) }
        let store = try store(world)
        let one = try await store.hints(after: nil, at: Self.now)
        let two = try await store.hints(after: one.position, at: Self.now)
        #expect(one.hasMore && !two.hasMore)
    }

    /// One environment may be closed to an app that has not been released.
    @Test func keepsThePlaceOfAnEnvironmentThatCannotBeRead() async throws {
        let item = try Self.item("s", "99", environment: "Sandbox")
        let world = world(sandbox: Self.page([item])) { _ in
            HTTPResponse(status: 401, body: Array("Unauthenticated".utf8))
        }
        let page = try await store(world).hints(after: "nonsense", at: Self.now)
        #expect(Self.ids(page) == ["s 99"] && page.failure == nil)
    }

    /// Who pays buys in production.
    @Test func saysThatProductionCannotBeReadWhereTheSandboxCan() async throws {
        let item = try Self.item("s", "99", environment: "Sandbox")
        let world = world(sandbox: Self.page([item])) { _ in HTTPResponse(status: 500) }
        let page = try await store(world).hints(after: nil, at: Self.now)
        #expect(Self.ids(page) == ["s 99"])
        #expect(page.failure?.problem.code == .unreachable)
    }

    /// What is sent while the first readings fail is not left out.
    @Test func beginsWhereItWasFirstTried() async throws {
        let isBack = Mutex(false)
        let item = try Self.item("a", "11", type: "REFUND")
        let world = FakeWorld(clock: Self.now) { request async throws(CurlError) in
            guard isBack.withLock(\.self) else { return HTTPResponse(status: 500) }
            guard request.url.hasPrefix("https://apple.example"), let body = request.body,
                let asked = try? JSON.decode(Asked.self, from: body),
                asked.startDate <= Self.now.microsecondsSinceEpoch / 1000
            else { return .json(#"{"hasMore":false}"#) }
            return .json(Self.page([item]))
        }
        let store = try store(world)
        let first = try await store.hints(after: nil, at: Self.now)
        #expect(first.failure?.problem.code == .unreachable)
        await #expect(throws: StoreFailure.self) {
            try await store.hints(after: first.position, at: Self.now + .hours(3))
        }
        isBack.withLock { $0 = true }
        world.advance(.hours(7))
        let page = try await store.hints(after: first.position, at: Self.now + .hours(7))
        #expect(Self.ids(page) == ["a 11"])
    }

    @Test func saysWhyNothingCouldBeRead() async throws {
        let limited = HTTPResponse(status: 429, retryAfter: "1774008030000")
        let world = FakeWorld(clock: Self.now) { _ async throws(CurlError) in limited }
        let first = try await store(world).hints(after: nil, at: Self.now)
        #expect(first.failure == .throttled(retryAfter: .seconds(30)))
        await #expect(throws: StoreFailure.throttled(retryAfter: .seconds(30))) {
            try await store(world).hints(after: first.position, at: Self.now)
        }
    }

    /// A refund that the statuses cannot show is looked into at the next check, whoever makes it:
    /// one by one, and what the history does not show yet again and again.
    @Test func looksForTheRefundsItHasHeardOf() async throws {
        let items = try ["1", "2", "3"].map { id in
            try Self.item(
                id, "420001010101001", type: "REFUND",
                transaction: AppleFixture.signed(#"{"transactionId":"\#(id)"}"#))
        }
        let page = Self.page(items + [try Self.item("r", "420001010101001")])
        let active = try AppleFixture.active()
        let refunds = try AppleFixture.page(
            ["1", "2", "9"].map { #"{"transactionId":"\#($0)","revocationDate":1772719964000}"# })
        let world = FakeWorld(clock: Self.now) { request async throws(CurlError) in
            if request.url.contains("notifications") { return .json(page) }
            return .json(request.url.contains("refund") ? refunds : active)
        }
        let hints = try await store(world).hints(after: nil, at: Self.now).hints
        let clues = hints.map(\.clue)
        #expect(clues == [.refund(of: "1"), .refund(of: "2"), .refund(of: "3"), nil])

        var purchase = purchase(.apple, token: "420001010101001") { facts in
            facts.originalID = "420001010101001"
            facts.signals = [.pastPeriodRefunded]
        }
        for (clues, told) in [
            (clues, ["1", "2"]), ([clues[1]], ["2"]), ([clues[2]], []), ([], []),
        ] {
            purchase.clues = Set(clues.compactMap(\.self))
            let before = world.requests.count
            let answer = await (try store(world)).ask(purchase, at: Self.now)
            guard case .verdict(let observation) = answer else {
                Issue.record("\(summary(answer))")
                return
            }
            #expect(observation.pastRefunds.sorted().map(\.text) == told)
            #expect(world.requests.count - before == (clues.isEmpty ? 1 : 2))
        }
    }

    @Test func findsTheTransactionsOfAnOrder() async throws {
        let text = try AppleFixture.signed()
        let bodies = [
            #"{"status":0,"signedTransactions":["\#(text)"]}"#, #"{"status":1}"#,
            #"{"status":0,"signedTransactions":["a.b.c"]}"#,
        ]
        let found = [
            AppleOrderItem(
                transactionID: "420001066677889", originalID: "420001010101001", product: "plus")
        ]
        for (body, items) in zip(bodies, [found, [], nil]) {
            let world = FakeWorld(clock: Self.now) { _ async throws(CurlError) in .json(body) }
            let read = try? await store(world).lookUp(orderID: "MK5TTTVWJH", at: Self.now)
            #expect(read == items)
            #expect(
                world.requests.map(\.url)
                    == ["https://apple.example/inApps/v1/lookup/MK5TTTVWJH"])
        }
    }
}
