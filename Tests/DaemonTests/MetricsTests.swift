import Configuration
import CoreMetrics
import Curl
import Foundation
import Glibc
import Ledger
import Renewal
import Testing

@testable import Daemon

/// The figures as Prometheus reads them.
@Suite struct MetricsTests {
    private static let app = AppKey(store: .apple, id: "com.example.reader")

    private static func metrics() -> DaemonMetrics {
        let metrics = DaemonMetrics(startedAt: Timestamp(microsecondsSinceEpoch: 5_000_000))
        metrics.begin(app, rate: 47.5)
        return metrics
    }

    @Test func beginsEverySeriesAtZero() {
        let text = Self.metrics().registry.text(.text)
        #expect(
            text.contains(
                #"renewald_checks_total{store="apple",app="com.example.reader",answer="refused"} 0"#
            ))
        #expect(
            text.contains(
                #"renewald_events_total{store="apple",kind="revoke",reason="unverifiable"} 0"#))
        #expect(
            text.contains(
                #"renewald_quota_calls_per_second{store="apple",app="com.example.reader"} 47.5"#))
        #expect(text.contains("renewald_start_time_seconds 5\n"))
    }

    @Test func countsAnAnswerByItsClassAndTime() async {
        let metrics = Self.metrics()
        _ = await metrics.asking(Self.app) {
            AnsweredCall(.failure(.throttled(retryAfter: nil)))
        }
        let text = metrics.registry.text(.text)
        let labels = #"{store="apple",app="com.example.reader""#
        #expect(text.contains("renewald_checks_total\(labels),answer=\"throttled\"} 1\n"))
        #expect(text.contains("renewald_checks_total\(labels),answer=\"verdict\"} 0\n"))
        #expect(text.contains("renewald_checks_in_flight\(labels)} 0\n"))
        #expect(text.contains(#"renewald_check_duration_seconds_count{store="apple"} 1"#))
    }

    @Test func addsUpTheBucketsOfAHistogram() throws {
        let metrics = Self.metrics()
        let told = try #require(EventKind.all.first { $0 == .revoke(.refunded) })
        for seconds in [0.5, 7, 7, 1_000_000] {
            metrics.told(event(told), Detection(change: .refund, lag: .seconds(seconds)))
        }
        let text = metrics.registry.text(.openMetrics)
        let name = "renewald_detection_lag_seconds"
        #expect(text.contains("\(name)_bucket{store=\"apple\",change=\"refund\",le=\"1.0\"} 1\n"))
        #expect(text.contains("\(name)_bucket{store=\"apple\",change=\"refund\",le=\"5.0\"} 1\n"))
        #expect(text.contains("\(name)_bucket{store=\"apple\",change=\"refund\",le=\"10.0\"} 3\n"))
        #expect(text.contains("\(name)_bucket{store=\"apple\",change=\"refund\",le=\"+Inf\"} 4\n"))
        #expect(text.contains("\(name)_count{store=\"apple\",change=\"refund\"} 4\n"))
        #expect(text.contains("\(name)_sum{store=\"apple\",change=\"refund\"} 1000014.5\n"))
    }

    @Test func showsOneStateOfACircuit() {
        let metrics = Self.metrics()
        metrics.circuitMoved(Self.app, .open)
        let lines = metrics.registry.text(.text).split(separator: "\n")
            .filter { $0.hasPrefix("renewald_circuit_state{") }
        #expect(lines.count == 3)
        #expect(lines.filter { $0.hasSuffix(" 1") }.count == 1)
        #expect(lines.contains { $0.contains(#"state="open"} 1"#) })
    }

    @Test func countsTheNewsOfASourceAndWhenItWasRead() {
        let metrics = Self.metrics()
        let source: SourceID = "google com.example.reader voided"
        metrics.begin(source: source)
        #expect(
            metrics.registry.text(.text).contains("renewald_hints_total{source=\"\(source)\"} 0"))
        #expect(!metrics.registry.text(.text).contains("hints_read_time_seconds{"))
        metrics.heard(source, fresh: 3, skipped: 1)
        metrics.unhandled(
            source, [UnhandledCount(type: "DREAM", fresh: 2, isNew: true, isExpected: false)])
        metrics.read(source, at: Timestamp(microsecondsSinceEpoch: 7_000_000))
        let text = metrics.registry.text(.text)
        for line in [
            "news_unhandled_total{source=\"\(source)\",expected=\"false\"} 2",
            "hints_total{source=\"\(source)\"} 3", "hints_skipped_total{source=\"\(source)\"} 1",
            "hints_read_time_seconds{source=\"\(source)\"} 7",
        ] {
            #expect(text.contains("renewald_\(line)\n"))
        }
    }

    /// What a reload has taken out stands still: as an open circuit, or as news that nobody reads.
    @Test func endsWhatTheConfigurationNamesNoMore() {
        let metrics = Self.metrics()
        let source: SourceID = "apple com.example.reader notifications"
        metrics.begin(source: source)
        metrics.keep(apps: [Self.app], sources: [source])
        let text = metrics.registry.text(.text)
        #expect(text.contains("renewald_circuit_state{"))
        #expect(text.contains("renewald_hints_total{"))
        metrics.keep(apps: [], sources: [])
        // A check or a reading that was under way ends.
        metrics.circuitMoved(Self.app, .open)
        metrics.read(source, at: Timestamp(microsecondsSinceEpoch: 7_000_000))
        let rest = metrics.registry.text(.text)
        #expect(!rest.contains("renewald_circuit_state{"))
        #expect(!rest.contains("renewald_hints"))
    }

    @Test func endsOpenMetricsAsItMustEnd() {
        let text = Self.metrics().registry.text(.openMetrics)
        #expect(text.hasSuffix("\n# EOF\n"))
        #expect(text.contains("# TYPE renewald_checks counter\n"))
        #expect(!Self.metrics().registry.text(.text).contains("# EOF"))
    }

    @Test func escapesWhatALabelMayHold() {
        let metrics = DaemonMetrics(startedAt: Timestamp(microsecondsSinceEpoch: 0))
        metrics.begin(AppKey(store: .google, id: "a\"b\\c\nd"), rate: 1)
        let text = metrics.registry.text(.text)
        #expect(text.contains(#"renewald_store_calls_total{store="google",app="a\"b\\c\nd"} 0"#))
    }

    /// No user, purchase or order ever becomes a label.
    @Test func hasOnlyLabelsThatAreBounded() async {
        let metrics = Self.metrics()
        for purchase in 0..<5000 {
            metrics.told(
                event(.notice(.renewed), user: "u-\(purchase)"),
                Detection(change: .renewal, lag: .seconds(1)))
        }
        let text = metrics.registry.text(.text)
        #expect(!text.contains("u-"))
        #expect(text.split(separator: "\n").count < 300)
    }

    /// A thousand apps have more series than the registry keeps of a family.
    @Test func servesTheFiguresOfEveryApp() async {
        let metrics = DaemonMetrics(startedAt: Timestamp(microsecondsSinceEpoch: 0))
        for number in 0..<1000 {
            metrics.begin(AppKey(store: .google, id: "app\(number)"), rate: 1)
            metrics.begin(source: "google app\(number) voided")
        }
        let last = AppKey(store: .google, id: "app999")
        _ = await metrics.asking(last) { AnsweredCall(.failure(.malformed(field: "body"))) }
        metrics.called(last)
        metrics.queueRead(
            last, due: 7, oldest: .seconds(3),
            backfill: QueueDepth.Backfill(imported: 900, left: 45))
        metrics.refundsRead(last, open: 2, nearestDeadline: nil)
        let text = metrics.registry.text(.text)
        let labels = #"{store="google",app="app999""#
        for line in [
            "checks_total\(labels),answer=\"malformed\"} 1", "store_calls_total\(labels)} 1",
            "checks_in_flight\(labels)} 0", "due\(labels)} 7", "oldest_due_seconds\(labels)} 3",
            "backfill_imported\(labels)} 900", "backfill_left\(labels)} 45",
            "refund_requests_open\(labels)} 2", "refund_deadline_time_seconds\(labels)} 0",
            "hints_total{source=\"google app999 voided\"} 0",
        ] {
            #expect(text.contains("\nrenewald_\(line)\n"), "\(line)")
        }
        #expect(text.matches(of: /renewald_checks_total\{/).count == 10_000)
    }

    @Test func dropsSeriesBeyondTheLimit() {
        let registry = MetricRegistry()
        for number in 0..<(MetricRegistry.seriesLimit + 10) {
            registry.makeMeter(label: "renewald_shards", dimensions: [("n", "\(number)")]).set(1.0)
        }
        let lines = registry.text(.text).split(separator: "\n").filter { !$0.hasPrefix("#") }
        #expect(lines.count == MetricRegistry.seriesLimit)
    }

    /// A dashboard or rule about a figure that is not there would be empty for ever.
    @Test(arguments: [
        "grafana/renewald.json", "prometheus/renewald.rules.yml",
        "prometheus/renewald.rules.test.yml",
    ])
    func isNamedRightBy(_ file: String) throws {
        let text = try String(contentsOf: Self.etc.appending(path: file), encoding: .utf8)
        let known = Set(MetricFamily.all.flatMap(\.sampleNames))
        let named = Set(text.matches(of: /\brenewald_[a-z0-9_]+\b/).map { String($0.output) })
        #expect(named.count > 8)
        #expect(named.subtracting(known) == [])
    }

    /// What is measured is also shown.
    @Test func isShownWhole() throws {
        let files = ["grafana/renewald.json", "prometheus/renewald.rules.yml"]
        let text = try files.map {
            try String(contentsOf: Self.etc.appending(path: $0), encoding: .utf8)
        }.joined()
        let unseen = MetricFamily.all.filter { family in
            !family.sampleNames.contains { text.contains($0) }
        }
        #expect(unseen.map(\.name) == [])
    }

    private static let etc = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "etc")

    private func event(_ told: EventKind, user: UserID = "u") -> Event {
        Event(
            told, userID: user, entitlement: nil, purchaseID: 1, app: Self.app, environment: nil,
            product: "p", orderID: nil, effectiveAt: .never, expiresAt: nil)
    }
}

/// The endpoint, asked over HTTP.
@Suite struct MetricsServerTests {
    @Test func answersItsPages() async throws {
        let health = Health()
        try await onServer(health) { (get: Get) async throws in
            #expect(try await get("/metrics").status == 200)
            #expect(try await get("/metrics?name=x").status == 200)
            #expect(try await get("/healthz").body == "ok\n")
            #expect(try await get("/readyz").body == "waiting for the database\n")
            #expect(try await get("/readyz").status == 503)
            health.enter(.working)
            #expect(try await get("/readyz").status == 200)
            health.databaseFailed(.unavailable(reason: "secret"))
            #expect(try await get("/readyz").body == "the database is not available\n")
            #expect(try await get("/healthz").status == 200)
            health.databaseAnswers()
            #expect(try await get("/readyz").status == 200)
            health.enter(.stopping)
            #expect(try await get("/readyz").body == "stopping\n")
            #expect(try await get("/").status == 404)
            #expect(try await get("/../etc/passwd").status == 404)
        }
    }

    @Test func speaksTheLanguageThatIsAskedFor() {
        let telemetry = Telemetry()
        let open = telemetry.pages.reply(
            method: "GET", target: "/metrics", accept: "application/openmetrics-text;version=1.0.0")
        #expect(open.contentType.hasPrefix("application/openmetrics-text"))
        #expect(open.body.hasSuffix("# EOF\n"))
        let older = telemetry.pages.reply(method: "GET", target: "/metrics", accept: "*/*")
        #expect(older.contentType.hasPrefix("text/plain; version=0.0.4"))
        let post = telemetry.pages.reply(method: "POST", target: "/metrics", accept: "")
        #expect(post.status == 405)
    }

    @Test func isIllOnlyWithoutAnySignOfLife() {
        let health = Health()
        health.pulse()
        #expect(health.complaint() == nil)
        #expect(health.complaint(at: .now + Health.pulseLimit + .seconds(1)) != nil)
    }

    /// What other statements do on a schema that does not fit says nothing of the schema.
    @Test func isNotReadyUntilTheSchemaFits() {
        let health = Health()
        health.enter(.working)
        let newer = LedgerError.schemaVersion(found: 99, needed: 19)
        health.databaseFailed(newer)
        #expect(health.reasonToWait() == newer.sentence)
        health.databaseAnswers()
        #expect(health.reasonToWait() == newer.sentence)
        health.schemaFits()
        #expect(health.reasonToWait() == nil)
        for error in [LedgerError.noLongerValid(what: "lease"), .cancelled] {
            health.databaseFailed(error)
            #expect(health.reasonToWait() == nil, "another was faster: the database is there")
        }
        health.databaseFailed(.forbidden(message: "table secret", work: .daily))
        #expect(health.reasonToWait()?.contains("see the log") == true)
        #expect(health.reasonToWait()?.contains("secret") == false)
    }

    /// Another session may hold what is read of the queues, and nothing else.
    @Test func isNotReadyWhileNothingThatIsDueCanBeRead() {
        let health = Health()
        health.enter(.working)
        health.readsWhatIsDue(failing: .unavailable(reason: "secret lock"))
        health.databaseAnswers()
        #expect(health.reasonToWait() == "the database does not give what is due")
        #expect(
            health.reasonToWait(at: .now + .seconds(90))
                == health.complaint(at: .now + .seconds(90)))
        for error in [LedgerError.noLongerValid(what: "lease"), .cancelled] {
            health.readsWhatIsDue(failing: error)
            #expect(health.reasonToWait() != nil)
        }
        health.readsWhatIsDue()
        #expect(health.reasonToWait() == nil)
    }

    /// Connections that say nothing shut nobody out, and one that is in use is kept.
    @Test(.timeLimit(.minutes(1))) func isNotShutByIdleConnections() async throws {
        let server = try await MetricsServer(try address(0), Telemetry().pages)
        let used = try #require(connection(to: server.port))
        var idle: [Int32] = []
        for _ in 0..<40 {
            idle.append(try #require(connection(to: server.port)))
            #expect(answers(used))
        }
        let late = try #require(connection(to: server.port))
        #expect(answers(late))
        for descriptor in idle + [used, late] { Glibc.close(descriptor) }
        await server.close()
    }

    private func connection(to port: Int) -> Int32? {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isOpen = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, size) == 0
            }
        }
        return isOpen ? descriptor : nil
    }

    private func answers(_ descriptor: Int32) -> Bool {
        let request = Array("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
        guard Glibc.send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) > 0
        else { return false }
        var reply = [UInt8](repeating: 0, count: 1024)
        let count = Glibc.recv(descriptor, &reply, reply.count, 0)
        guard count > 0 else { return false }
        return String(decoding: reply.prefix(count), as: UTF8.self).hasPrefix("HTTP/1.1 200")
    }

    @Test func saysWhenTheAddressIsTaken() async throws {
        let pages = Telemetry().pages
        let first = try await MetricsServer(try address(0), pages)
        await #expect(throws: (any Error).self) {
            try await MetricsServer(try address(first.port), pages).close()
        }
        await first.close()
    }

    private func address(_ port: Int) throws -> ListenAddress {
        try #require(ListenAddress("127.0.0.1:\(port)"))
    }

    private typealias Get = (String) async throws -> (status: Int, body: String)

    private func onServer(
        _ health: Health, _ test: (Get) async throws -> Void
    ) async throws {
        let pages = MetricsPages(registry: MetricRegistry(), health: health)
        let server = try await MetricsServer(try address(0), pages)
        let client = try CurlClient(configuration: CurlConfiguration())
        do {
            try await test { path in
                let response = try await client.send(
                    HTTPRequest(
                        method: .get, url: "http://127.0.0.1:\(server.port)\(path)",
                        allowsPlainHTTP: true))
                return (response.status, String(decoding: response.body, as: UTF8.self))
            }
        } catch {
            await client.close()
            await server.close()
            throw error
        }
        await client.close()
        await server.close()
    }
}

@Suite struct UserNamesTests {
    /// As `printf %s u-1 | sha256sum | cut -c -16` prints it.
    @Test func givesTheSamePseudonymAsAShell() {
        #expect(UserNames.hashed.name(of: "u-1") == "a24a7f55f278dd49")
        #expect(UserNames.plain.name(of: "u-1") == "u-1")
    }
}
