import Ledger
import Renewal
import StoreFixtures
import Stores
import TestSupport
import Testing

@testable import Configuration
@testable import Daemon

/// What is well and what is wrong, from what was read.
@Suite struct DoctorJudgementTests {
    // MARK: The report

    private static let exits: [([ExitReason], ExitReason)] = [
        ([], .done), ([.temporary], .temporary), ([.temporary, .unavailable], .unavailable),
        ([.unavailable, .configuration, .temporary], .configuration),
    ]

    @Test(arguments: exits)
    func endsWithTheGravest(reasons: [ExitReason], exit: ExitReason) {
        let findings =
            [Finding.ok("a", "b"), .note("c", "d", do: "e"), .skipped("f", because: "g")]
            + reasons.map { .wrong("h", "i", do: "j", $0) }
        #expect(DoctorReport(findings).exitReason == exit)
    }

    @Test func addsUp() {
        let well = DoctorReport([.ok("a", "b"), .ok("c", "d")])
        #expect(well.summary == "All is well: 2 checks.")
        let ill = DoctorReport([
            .wrong("a", "b", do: "c"), .skipped("d", because: "e"), .note("f", "g"), .ok("h", "i"),
        ])
        #expect(ill.summary == "4 checks: 1 wrong, 1 skipped, 1 to note.")
    }

    @Test func aLineAndWhatToDo() {
        #expect(
            Finding.wrong("database", "is not there", do: "start it").lines == [
                "wrong    database       is not there", "         do: start it",
            ])
        #expect(Finding.ok("clock", "agrees").lines == ["ok       clock          agrees"])
    }

    @Test func theLevelHasItsColourOnATerminal() {
        let finding = Finding.wrong("database", "is not there", do: "start it")
        #expect(
            finding.lines(isColoured: true) == [
                "\u{1b}[1;31mwrong    \u{1b}[0mdatabase       is not there",
                "         do: start it",
            ])
    }

    // MARK: News and figures

    private static let newsAges = rows(
        """
        read   failures  level  says
        60     0         ok     every source was read within the last 60 s
        -      0         -      -
        4000   0         note   was last read 66 min ago
        60     2         ok     last 60 s
        60     3         wrong  3 failures in a row: unreachable
        4000   3         wrong  3 failures in a row: unreachable
        """)

    @Test(arguments: newsAges)
    func judgesTheAgeOfTheNews(_ row: [String]) throws {
        let now = Timestamp(microsecondsSinceEpoch: 1_800_000_000_000_000)
        let failures = try #require(Int(row[1]))
        let source = QueueStatus.Source(
            name: "google a voided", readAt: Int(row[0]).map { now - .seconds($0) },
            failures: failures,
            problem: failures > 0 ? "unreachable" : nil)
        let findings = NewsCheck.findings([source], of: try apps(), at: now)
        #expect((findings.first?.level.rawValue ?? "-") == row[2])
        #expect(findings.first?.sentence.contains(row[3]) ?? (row[3] == "-"))
    }

    /// As where Google's topic is not set in the Play Console: the subscription can be pulled, and
    /// says nothing.
    @Test func notesThatNothingEverCame() throws {
        let now = Timestamp(microsecondsSinceEpoch: 1_800_000_000_000_000)
        let findings = NewsCheck.findings(
            [
                .init(name: "google a notifications", readAt: now, failures: 0, problem: nil),
                .init(
                    name: "google b notifications", readAt: now, failures: 0, problem: nil,
                    isSilent: true),
            ], of: try apps(), at: now)
        #expect(findings.map(\.level) == [.note])
        #expect(findings[0].sentence.contains("nothing has come from google b notifications"))
    }

    /// What was tried once and given up is no fault for ever.
    @Test func saysNothingOfSourcesThatAreNotConfigured() throws {
        let now = Timestamp(microsecondsSinceEpoch: 1_800_000_000_000_000)
        let names: [SourceID] = [
            "google c notifications", "google gone notifications", "google gone voided",
        ]
        let sources = names.map {
            QueueStatus.Source(name: $0, readAt: nil, failures: 9, problem: "refused")
        }
        #expect(NewsCheck.findings(sources, of: try apps(), at: now).isEmpty)
        let voided = QueueStatus.Source(
            name: "google c voided", readAt: nil, failures: 9, problem: "refused")
        #expect(
            NewsCheck.findings(sources + [voided], of: try apps(), at: now).map(\.level) == [.wrong]
        )
    }

    /// Of `a` and `b` notifications are read.
    private func apps() throws -> [App] {
        let text = ["a", "b", "c"].map { id in
            "[[app]]\nstore = \"google\"\nid = \"\(id)\"\nservice_account = \"env:G\"\n"
                + (id == "c" ? "" : "pubsub_subscription = \"\(id)\"\n")
        }
        return try Settings.parse(
            text: "[database]\nurl = \"postgresql:///a\"\n" + text.joined(), file: "f.toml",
            environment: [:]
        ).apps
    }

    @Test func namesNewsThatNobodyHandles() throws {
        func news(_ type: String, isExpected: Bool = false) -> QueueStatus.Unhandled {
            QueueStatus.Unhandled(
                source: "apple", type: type, isExpected: isExpected, count: 3, lastSeenAt: .never)
        }
        #expect(NewsCheck.findings([news("TEST", isExpected: true)]).isEmpty)
        let finding = try #require(
            NewsCheck.findings([news("DREAM"), news("TEST", isExpected: true)]).first)
        #expect(finding.level == .note && finding.sentence.contains("DREAM (apple, 3)"))
        #expect(!finding.sentence.contains("TEST"))
        let many = try #require(NewsCheck.findings((0..<12).map { news("T\($0)") }).first)
        #expect(many.sentence.hasSuffix("2 more"))
    }

    @Test func knowsWhoAnswersWithTheFigures() throws {
        let address = try #require(ListenAddress("127.0.0.1:9464"))
        func level(_ body: String, _ status: Int = 200) -> Finding.Level {
            MetricsCheck.judge(body, status: status, address).level
        }
        let own = "# HELP x\nrenewald_build_info{version=\"\(Version.text)\"} 1\n"
        #expect(level(own) == .ok)
        #expect(level("renewald_build_info{version=\"0.0.9\"} 1\n") == .note)
        #expect(level("<html>", 200) == .wrong && level(own, 404) == .wrong)
    }

    // MARK: Clocks

    private static let skews = rows(
        """
        milliseconds  level  says
        0             ok     agree
        -4999         ok     agree
        5001          note   5 s behind Apple
        -6000         note   6 s ahead of Apple
        60000         note   60 s behind Apple
        61000         wrong  61 s behind Apple
        -7200000      wrong  2 h ahead of Apple
        864000000     wrong  10 days behind Apple
        """)

    @Test(arguments: skews)
    func judgesAClock(_ row: [String]) throws {
        let skew = Duration.milliseconds(try #require(Int(row[0])))
        let finding = ClockCheck.finding("Apple", skew: skew)
        #expect(finding.level.rawValue == row[1])
        #expect(finding.sentence.contains(row[2]))
    }

    @Test func countsThePurchasesThatMetTheProblemClock() {
        func met(_ store: Store, _ code: Problem.Code, _ count: Int64) -> QueueStatus.ProblemCount {
            .init(app: AppKey(store: store, id: "a"), code: code, purchases: count)
        }
        let well = ClockCheck.finding([met(.apple, .throttled, 9)])
        #expect(well.level == .ok)
        let finding = ClockCheck.finding([
            met(.apple, .clock, 3), met(.apple, .throttled, 9), met(.google, .clock, 40),
        ])
        #expect(finding.level == .note && finding.exitReason == .done)
        #expect(finding.sentence.contains("`clock`: apple a: 3, google a: 40: "))
        #expect(finding.advice?.contains("timedatectl") == true)
    }

    @Test func countsWhatIsSetAsideAndSaysWhatFreesIt() throws {
        func met(_ store: Store, _ code: Problem.Code, _ count: Int64) -> QueueStatus.ProblemCount {
            .init(app: AppKey(store: store, id: "a"), code: code, purchases: count)
        }
        #expect(SetAsideCheck.findings([met(.apple, .throttled, 9)]).isEmpty)
        let finding = try #require(
            SetAsideCheck.findings([
                met(.apple, .setAside, 3), met(.apple, .throttled, 9), met(.google, .setAside, 1),
            ]).first)
        #expect(finding.level == .note && finding.exitReason == .done)
        #expect(finding.sentence.contains(": apple a: 3, google a: 1: "))
        #expect(finding.advice?.contains("LIKE 'set_aside:%'") == true)
        #expect(finding.advice?.contains("`renewald check USER`") == true)
    }

    @Test func tellsInWhatConfigurationsDifferThatDecideInTurn() throws {
        #expect(RulesCheck.findings([]).isEmpty)
        let clash = ClashingRules(
            app: AppKey(store: .google, id: "a"), differences: [.policy("grace"), .product("pro")])
        let finding = try #require(RulesCheck.findings([clash]).first)
        #expect(finding.level == .note && finding.exitReason == .done)
        #expect(finding.sentence.hasPrefix("google a: two configurations have decided in turn"))
        #expect(finding.sentence.hasSuffix("differ in [policy] grace, [[product]] pro"))
    }

    @Test func tellsWhichWorkersLackAnApp() throws {
        #expect(RulesCheck.findings(uneven: []).isEmpty)
        let names = (1...7).map { "worker-\($0)" }
        let app = UnevenApp(AppKey(store: .apple, id: "a"), isLacking: false, without: names)
        let finding = try #require(RulesCheck.findings(uneven: [app]).first)
        #expect(finding.level == .note && finding.exitReason == .done)
        #expect(finding.sentence.hasPrefix("apple/a is not configured for worker-1, "))
        #expect(finding.sentence.contains("worker-5 and 2 more, and is for others"))
    }

    @Test func countsWhatIsGrantedWithoutAnEnd() {
        let app = AppKey(store: .apple, id: "a")
        #expect(DurationCheck.findings([]).isEmpty)
        let finding = DurationCheck.findings([
            EndlessProduct(app: app, product: "pass", purchases: 3)
        ])[0]
        #expect(finding.level == .note && finding.exitReason == .done)
        #expect(finding.sentence.hasPrefix("apple a: 3 purchases of pass granted without an end"))
        #expect(finding.advice?.contains("[[product]] pass") == true)
    }

    // MARK: Certificates and stores

    @Test(arguments: [
        ([400], Finding.Level.ok), ([20], .note), ([-1], .wrong), ([-1, 400], .note),
        ([-5, -1], .wrong),
    ])
    func judgesWhenCertificatesEnd(days: [Int], level: Finding.Level) {
        let now = Timestamp(microsecondsSinceEpoch: 1_771_588_800_000_000)
        let finding = CredentialCheck.judge(days.map { now + .days($0) }, "tls_ca", now)
        #expect(finding.level == level)
    }

    /// A root that is not Apple's is worth a word where Apple itself is asked, and only there.
    @Test func noticesARootThatIsNotApples() throws {
        let own = try CertificateFile(AppleRoots.g3)
        let other = try CertificateFile(AppleAuthority.trusted.get().root)
        let apple = "https://api.storekit.apple.com"
        #expect(CredentialCheck.remark(onRoot: own, of: apple) == nil)
        #expect(CredentialCheck.remark(onRoot: other, of: "https://127.0.0.1:8443") == nil)
        let remark = try #require(CredentialCheck.remark(onRoot: other, of: apple))
        #expect(remark.level == .note && remark.sentence.contains("is not Apple Root CA - G3"))
        #expect(remark.advice?.hasPrefix("remove the key") == true)
    }

    @Test func onlyRefusedCredentialsAreForAPerson() {
        let key = AppKey(store: .google, id: "com.example.reader")
        let failures: [(StoreFailure, ExitReason, advice: String)] = [
            (.refused(reason: "status 401"), .configuration, "mend the key"),
            // The words are for people: what they hold decides nothing.
            (.refused(reason: "token endpoint: status 401"), .configuration, "mend the key"),
            (
                .refused(reason: "invalid_grant", obstacle: .serviceAccount), .configuration,
                "Service accounts"
            ),
            (.unsupported(reason: "no key"), .configuration, "configuration of the app"),
            (.unreachable(reason: "timed out"), .temporary, "firewall"),
            (.unreachable(reason: "TLS certificate not trusted"), .temporary, "firewall"),
            (.unreachable(reason: "TLS", obstacle: .certificate), .temporary, "tls_ca"),
            (.throttled(retryAfter: nil), .temporary, "requests_per_second"),
            (.malformed(field: "body"), .temporary, "base_url"),
        ]
        for (failure, exit, advice) in failures {
            let finding = StoreCheck.judge(failure, key, "mend the key")
            #expect(finding.exitReason == exit)
            #expect(finding.advice?.contains(advice) == true, "\(failure)")
        }
    }
}

/// Stores that ask about refunds and are not heard.
@Suite struct RefundCheckTests {
    private func findings(
        _ store: Store, _ answering: RefundRule.Answering, consented: Bool = false, asked: Int64 = 1
    ) -> [String] {
        var rule = RefundRule()
        rule.answering = answering
        rule.isConsented = consented
        let status = RefundStatus(
            app: AppKey(store: store, id: "a"), open: 1, nearestDeadline: nil, asked: asked)
        return RefundCheck.findings([status], under: rule).map(\.sentence)
    }

    @Test func saysWhenNobodyAnswers() {
        #expect(findings(.google, .off, asked: 0) == [])
        #expect(findings(.google, .off)[0].contains("nothing is answered"))
        #expect(findings(.google, .app) == ["1 open refund requests"])
        #expect(findings(.google, .policy) == ["1 open refund requests"])
        #expect(findings(.apple, .policy)[0].contains("consent is missing"))
        #expect(findings(.apple, .policy, consented: true) == ["1 open refund requests"])
    }
}
