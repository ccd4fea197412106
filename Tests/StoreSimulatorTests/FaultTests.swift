import Foundation
import Synchronization
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@testable import StoreSimulator

@Suite("Faults")
struct FaultTests {
    /// Status, and a piece of the body or of the content type.
    static let table = rows(
        """
        store   fault                                            status  has
        apple   {"kind":"status"}                                500     5000001
        google  {"kind":"status","status":503}                   503     backendError
        amazon  {"kind":"status","status":500}                   500     "status":false
        google  {"kind":"html"}                                  200     <html>
        apple   {"kind":"html","status":502}                     502     <html>
        apple   {"kind":"not_found"}                             404     4040010
        google  {"kind":"not_found"}                             404     purchaseTokenNotFound
        amazon  {"kind":"not_found"}                             400     Failed to parse receipt Id
        apple   {"kind":"gone_once"}                             404     4040001
        google  {"kind":"gone_once"}                             410     NoLongerAvailable
        amazon  {"kind":"gone"}                                  410     no longer valid
        apple   {"kind":"unauthorized"}                          401     Unauthenticated
        google  {"kind":"unauthorized"}                          401     authError
        amazon  {"kind":"unauthorized"}                          496     Invalid developerSecret
        google  {"kind":"throttle"}                              429     rateLimitExceeded
        """)

    @Test("give the answer of the table", arguments: table)
    func answers(_ row: [String]) throws {
        let stage = try Stage()
        let purchase = try stage.buy(try #require(StoreName(rawValue: row[0])))
        #expect(stage.control("POST", "/faults", row[1]).status == 200)
        let reply = try stage.ask(purchase)
        #expect(reply.status == Int(row[2]))
        #expect(reply.text.contains(row[3]))
    }

    @Test("say when to come back in each store's dialect")
    func throttles() throws {
        let stage = try Stage()
        _ = stage.control("POST", "/faults", #"{"kind":"throttle","retry_after":30}"#)
        let waits = try StoreName.allCases.map { store in
            let reply = try stage.ask(stage.buy(store))
            return try #require(reply.headers.first { $0.0 == "retry-after" }?.1)
        }
        #expect(try #require(Int64(waits[0])) > 1_000_000_000_000)
        #expect(waits[1] == "30" && waits[2] == "30")
    }

    @Test("spoil the body: half of it, bytes of it, another's, an old one")
    func spoilsBodies() throws {
        let stage = try Stage()
        let purchase = try stage.buy(.google, #","start":"2026-01-01T00:00:00Z""#)
        let other = try stage.buy(.google)
        let good = try stage.google(purchase.token).text
        let asked = { (fault: String) in
            _ = stage.control("POST", "/faults", fault)
            defer { _ = stage.control("DELETE", "/faults") }
            return try stage.google(purchase.token)
        }
        #expect(try good.hasPrefix(asked(#"{"kind":"truncated"}"#).text))
        #expect(try asked(#"{"kind":"truncated"}"#).object.isEmpty)
        #expect(try asked(#"{"kind":"garbled"}"#).object.isEmpty)
        #expect(try asked(#"{"kind":"other_purchase"}"#).text.contains(other.order))
        let old = try asked(#"{"kind":"stale","age":"P100Y"}"#).text
        #expect(old.contains("2026-02-01T00:00:00Z") && old != good)
        let ended = try asked(#"{"kind":"ended"}"#).text
        #expect(ended.contains("SUBSCRIPTION_STATE_EXPIRED"))
        #expect(good.contains("SUBSCRIPTION_STATE_ACTIVE"))
        #expect(try asked(#"{"kind":"cut"}"#).delivery == .cut)
        #expect(try asked(#"{"kind":"slow","latency_ms":70}"#).delayMilliseconds == 70)
        #expect(try stage.google(purchase.token).text == good)
    }

    @Test("meet only whom they are for, as often as they say")
    func isForSome() throws {
        let stage = try Stage()
        let apple = try stage.buy(.apple)
        let google = try [stage.buy(.google), stage.buy(.google)]
        let fault = #"{"kind":"status","store":"google","purchase":2,"count":2}"#
        _ = stage.control("POST", "/faults", fault)
        #expect(try stage.ask(apple).status == 200)
        #expect(try stage.ask(google[1]).status == 200)
        #expect(try (0..<3).map { _ in try stage.ask(google[0]).status } == [500, 500, 200])
    }

    @Test("last as long as they say, by the simulated clock")
    func lasts() throws {
        let stage = try Stage()
        let purchase = try stage.buy(.amazon)
        _ = stage.control("POST", "/faults", #"{"kind":"status","for":"PT1H"}"#)
        _ = stage.control("POST", "/clock", #"{"advance":"PT50M"}"#)
        #expect(stage.amazon(purchase).status == 500)
        _ = stage.control("POST", "/clock", #"{"advance":"PT10M"}"#)
        #expect(stage.amazon(purchase).status == 200)
    }

    @Test("meet the share of calls that they say, and the same ones for the same seed")
    func hasAShare() throws {
        let runs = try [UInt64](arrayLiteral: 1, 1, 2).map { seed in
            let stage = try Stage(seed: seed)
            let purchase = try stage.buy(.amazon)
            _ = stage.control("POST", "/faults", #"{"kind":"status","share":0.25}"#)
            return (0..<400).map { _ in stage.amazon(purchase).status }
        }
        let failed = runs[0].count { $0 == 500 }
        #expect((60...140).contains(failed))
        #expect(runs[0] == runs[1] && runs[0] != runs[2])
    }

    @Test("of the token endpoint do not meet the reads")
    func meetsTheTokenEndpoint() throws {
        let stage = try Stage()
        let purchase = try stage.buy(.google)
        let bearer = try stage.googleBearer()
        let fault = #"{"kind":"status","status":503,"store":"google","endpoint":"token"}"#
        _ = stage.control("POST", "/faults", fault)
        #expect(stage.postToken(try stage.assertion()).status == 503)
        #expect(try stage.google(purchase.token, bearer: bearer).status == 200)
    }
}

@Suite("The server", .serialized)
struct ServerTests {
    /// A running simulator without TLS, and a folder that goes away with it.
    private func withSimulator(_ body: (Simulator, Purchase) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "storesim-test-\(ProcessInfo.processInfo.processIdentifier)")
        var options = Simulator.Options(directory: folder.path)
        options.isPlain = true
        let simulator = try await Simulator.start(options)
        let purchase = simulator.responder.world.withLock { world in
            world.add(
                Purchase.Buyer(app: "com.example.reader"),
                Timeline(
                    store: .amazon, product: "p", start: SimulatedClock.machineNow,
                    terms: Terms(store: .amazon, period: Period(months: 1))))
        }
        let result: Result<Void, any Error>
        do {
            result = .success(try await body(simulator, purchase))
        } catch {
            result = .failure(error)
        }
        simulator.quit()
        try await simulator.run()
        try FileManager.default.removeItem(at: folder)
        try result.get()
    }

    private func get(
        _ simulator: Simulator, _ purchase: Purchase, timeout: Double = 60
    ) async throws -> (Data, Int, String?) {
        let path = Stage.amazonPath(purchase, secret: simulator.credentials.amazonSecret)
        let url = try #require(URL(string: simulator.origin + path))
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = timeout
        let session = URLSession(configuration: configuration)
        defer { session.finishTasksAndInvalidate() }
        let (data, response) = try await session.data(from: url)
        let http = try #require(response as? HTTPURLResponse)
        return (data, http.statusCode, http.value(forHTTPHeaderField: "content-type"))
    }

    @Test("answers a plain client, and has written what the client needs")
    func answers() async throws {
        try await withSimulator { simulator, purchase in
            let (data, status, type) = try await get(simulator, purchase)
            #expect(status == 200 && type == "application/json")
            #expect(String(decoding: data, as: UTF8.self).contains(purchase.token))
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
                "storesim-test-\(ProcessInfo.processInfo.processIdentifier)")
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            let needed = "apple-root.der apple-root.pem apple.p8 ca.pem google.json renewald.toml"
            #expect(Set(needed.split(separator: " ").map(String.init)).isSubset(of: names))
            let toml = try String(
                contentsOf: folder.appendingPathComponent("renewald.toml"), encoding: .utf8)
            #expect(toml.contains("sandbox_url = \"\(simulator.sandboxOrigin)\""))
        }
    }

    @Test(
        "lets a plain client see cut, reset and hanging answers",
        arguments: ["cut", "reset", "hang"])
    func breaksAnswers(_ kind: String) async throws {
        try await withSimulator { simulator, purchase in
            let fault = try #require(Fault.Kind(rawValue: kind))
            _ = simulator.responder.world.withLock { $0.faults.add(Fault(kind: fault)) }
            await #expect(throws: (any Error).self) {
                try await get(simulator, purchase, timeout: kind == "hang" ? 1 : 60)
            }
            simulator.responder.world.withLock { $0.faults.removeAll() }
            #expect(try await get(simulator, purchase).1 == 200)
        }
    }

    @Test("refuses a port that is taken")
    func refusesATakenPort() async throws {
        try await withSimulator { simulator, _ in
            let port = try #require(Int(simulator.origin.split(separator: ":").last ?? ""))
            var options = Simulator.Options(
                directory: FileManager.default.temporaryDirectory.path + "/storesim-taken")
            options.port = port
            await #expect(throws: (any Error).self) { try await Simulator.start(options) }
            try? FileManager.default.removeItem(atPath: options.directory)
        }
    }
}
