import FoundationEssentials
import Renewal
import Testing

@testable import Explain
@testable import Ledger

/// `docs/json.md` says what the commands print: every field, in every object, with what it is.
struct JSONPageTests {
    @Test(arguments: Self.printed.keys.sorted())
    func describesWhatIsPrinted(_ command: String) throws {
        let documented = try #require(JSONPage.read()[command])
        var found: [String: [JSONFields]] = [:]
        for object in try #require(Self.printed[command]) {
            let value = try JSONDecoder().decode(JSONValue.self, from: Data(object.line().utf8))
            value.collect(at: "", of: documented, into: &found)
        }
        #expect(Set(found.keys) == Set(documented.keys))
        for (path, objects) in found {
            let fields = documented[path] ?? [:]
            for object in objects {
                #expect(Set(object.keys) == Set(fields.keys), "\(command) \(path)")
                for (name, value) in object {
                    let words = fields[name] ?? ""
                    #expect(value.matches(words), "\(command) \(path).\(name) is no \(words)")
                }
            }
        }
    }

    @Test func describesEachCommand() {
        #expect(Set(JSONPage.read().keys) == Set(Self.printed.keys))
    }

    /// The encoder makes snake_case of our names, and only of ours.
    @Test func keepsTheNamesOfADetail() throws {
        let line = try EventJSON(Self.event(detail: #"{"falseRenewal": true, "n": 1.5}"#)).line()
        #expect(line.contains(#""detail":{"falseRenewal":true,"n":1.5}"#))
    }

    // MARK: What is printed

    /// By command: full objects, and such in which all is null that may be.
    private static var printed: [String: [any JSONObject]] {
        [
            "check": [check], "explain": [explanation], "status": [status],
            "events": [EventJSON(event(detail: "{}")), EventJSON(bareEvent)],
            "doctor": [
                DoctorJSON(
                    exit: 0,
                    checks: [
                        .init(level: "ok", subject: "clock", sentence: "s", advice: nil),
                        .init(level: "wrong", subject: "clock", sentence: "s", advice: "a"),
                    ])
            ],
            "rekey": [
                RekeyJSON(RekeyReport(), key: KeyID(bytes: [1, 2])),
                RekeyJSON(RekeyReport(), key: nil),
            ],
            "once": [OnceJSON(checked: 1, events: 2, unjudged: 3, shardsLeftToOthers: 4)],
            "pause": [
                PauseJSON(app: AppKey(store: .google, id: "a"), pausedAt: Sample.day(1)),
                PauseJSON(app: AppKey(store: .google, id: "a"), pausedAt: nil),
            ],
            "import": [ImportJSON(read: 6, submitted: 1, known: 2, bad: 3)],
            "export": [exported(nil), exported("amzn1")],
            "release": [ReleaseJSON(released: 1, dropped: 2)],
            "what-if": [DifferenceJSON(difference), DifferenceJSON(Difference())],
            "apply": [DifferenceJSON(difference)],
            "plan": [plan],
            "shadow": [
                ShadowReport(
                    ShadowRun(at: Sample.day(1)),
                    ShadowClass.allCases.map {
                        ShadowTally(who: $0, cause: .hold, count: 2, people: 1, age: .zero)
                    }, doubled: 0, system: "theirs", history: [])
            ],
            "replay": [ReplayJSON(decided: 3, different: 1)],
            "migrate": [MigrateJSON(version: 2, applied: [1, 2])],
        ]
    }

    /// An entitlement's name is nobody's to change.
    @Test func keepsTheNamesOfEntitlements() throws {
        #expect(try DifferenceJSON(Self.difference).line().contains(#""gain":{"ProPlan":1}"#))
    }

    private static var difference: Difference {
        var difference = Difference()
        difference.count(
            [.grant(.productChanged), .revoke(.refunded)].map { kind in
                Event(
                    kind, userID: UserID(kind.name), entitlement: "ProPlan", purchaseID: 1,
                    app: Sample.app, environment: .production, product: "monthly", orderID: nil,
                    effectiveAt: Sample.start, expiresAt: nil)
            })
        return difference
    }

    private static var plan: PlanReport {
        let terms = ForecastTerms(
            .google, callsPerSecond: 1, usableCallsPerSecond: 0.9, poll: .seconds(1))
        var waiting = FleetOutline()
        waiting.waiting = 9
        var endless = FleetOutline(subscriptions: 10_000_000)
        endless.waiting = 1
        var report = PlanReport()
        report.apps = [FleetOutline(), FleetOutline(subscriptions: 9), waiting, endless].map {
            var plan = AppPlan(Sample.app, Forecast(of: $0, under: terms, lives: 30))
            plan.more = plan.forecast.purchases == 9 ? plan.forecast : nil
            plan.advice = ["do"]
            return plan
        }
        report.unknownApps = [false, true].map {
            UnknownApp(
                Sample.app, purchases: 1,
                nearest: $0 ? AppKey(store: .google, id: "near") : nil)
        }
        return report
    }

    private static let unreadable = UnreadablePurchase(
        id: 98, column: "lapse", place: .start(of: 1), lane: 1)

    private static var explanation: Explanation {
        let crowd = Sample.crowd(purchases: 8, checks: 300)
        let asked = crowd.purchases[0]
        let history = UserHistory(
            userID: "ada", now: crowd.now, entitlements: crowd.entitlements,
            purchases: [
                PurchaseHistory(
                    claim: asked.claim, evidence: asked.evidence, events: asked.events,
                    refunds: Sample.refunds)
            ] + crowd.purchases.dropFirst(),
            transferred: crowd.purchases.prefix(1).map {
                TransferredPurchase(purchaseID: 99, evidence: $0.evidence, events: $0.events)
            }, claimed: crowd.purchases.prefix(1).map(\.claim), unreadable: [unreadable])
        return Explanation(finding: .user, now: crowd.now, users: [history, Sample.lapsed])
    }

    private static var check: CheckJSON {
        let claim = Sample.crowd(purchases: 1, checks: 2).purchases[0].claim
        let answer = Answer.failure(.unreachable(reason: "time-out"))
        let moment = Moment(now: claim.claimedAt, jitter: 0)
        let outcome = decide(claim, hearing: answer, at: moment, under: Rules())
        let calls = [
            StoreCall("get", status: 503, body: []), StoreCall("get", status: nil, body: []),
        ]
        let events = [EntitlementID("pro"), nil].map { entitlement in
            Event(
                .grant(.purchased), userID: "ada", entitlement: entitlement, purchaseID: 1,
                app: Sample.app, environment: .production, product: "monthly", orderID: nil,
                effectiveAt: Sample.start, expiresAt: nil)
        }
        let asked = CheckJSON.Purchase(outcome, of: AnsweredCall(answer, calls: calls), events)
        return CheckJSON(of: "ada", [asked, CheckJSON.Purchase(unreadable)])
    }

    private static func exported(_ storeUserID: StoreUserID?) -> ExportedPurchase {
        ExportedPurchase(
            userID: "ada", app: Sample.app, product: "monthly", token: "t",
            storeUserID: storeUserID)
    }

    private static var status: StatusReport {
        func app(_ id: AppID, isConfigured: Bool?, _ at: Timestamp?) -> QueueStatus.App {
            QueueStatus.App(
                key: AppKey(store: .google, id: id), isConfigured: isConfigured, purchases: 3,
                due: 1, oldestDueAt: at, nextDueAt: at, lastVerdictAt: at, setAside: 1,
                problems: [.secondOpinion: 1],
                lag: at.map { _ in .init(events: 1, p50: .seconds(1), p99: .seconds(2)) },
                lags: at.map { _ in
                    let lag = QueueStatus.Lag(events: 1, p50: .seconds(1), p99: .seconds(2))
                    return [.init(change: "expiry", lag: lag)]
                } ?? [],
                backfill: at.map { .init(imported: 3, left: 2, startedAt: $0) })
        }
        func bucket(_ seconds: Int) -> QueueStatus.Bucket {
            QueueStatus.Bucket(
                name: BucketID(of: AppKey(store: .google, id: "a")), aheadSeconds: 0,
                readAt: Sample.start + .seconds(seconds), freeAt: Sample.start + .seconds(seconds),
                blockedUntil: Sample.day(1), pausedAt: Sample.day(2))
        }
        var status = QueueStatus()
        status.now = Sample.start
        status.apps = [
            app("a", isConfigured: true, Sample.start), app("b", isConfigured: false, nil),
            app("c", isConfigured: nil, nil),
        ]
        status.workers = [QueueStatus.Worker(name: "w", startedAt: Sample.start, shards: 256)]
        status.sources = [
            QueueStatus.Source(name: "s", readAt: nil, failures: 0, problem: nil),
            QueueStatus.Source(name: "t", readAt: Sample.start, failures: 1, problem: "p"),
        ]
        status.unhandled = [
            QueueStatus.Unhandled(
                source: "apple", type: "DREAM", isExpected: false, count: 3,
                lastSeenAt: Sample.start)
        ]
        status.buckets = [bucket(2)]
        status.refunds = [
            RefundStatus(
                app: AppKey(store: .google, id: "a"), open: 1, nearestDeadline: Sample.start,
                asked: 2)
        ]
        return StatusReport(
            status, configured: [], earlier: [bucket(1)],
            nearest: { $0.id == "b" ? Sample.app : nil }, quota: { _ in 38.5 })
    }

    private static func event(detail: String) -> StoredEvent {
        StoredEvent(
            id: 1, key: "k", createdAt: Sample.start, kind: "grant", reason: "purchased",
            userID: "ada", entitlement: "pro", purchaseID: 1, store: "google", app: "a",
            environment: "production", product: "monthly", orderID: "o",
            effectiveAt: Sample.start, expiresAt: Sample.day(1), detail: detail)
    }

    private static let bareEvent = StoredEvent(
        id: 1, key: "k", createdAt: Sample.start, kind: "notice", reason: "renewed", userID: "ada",
        purchaseID: 1, store: "google", app: "a", product: "monthly", effectiveAt: Sample.start)
}

private typealias JSONFields = [String: JSONValue]

/// The tables of `docs/json.md`.
private enum JSONPage {
    /// By command, path of the object and field: what it is.
    typealias Objects = [String: [String: String]]

    static func read() -> [String: Objects] {
        let path = URL(filePath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "docs/json.md")
        let text = (try? String(contentsOf: path, encoding: .utf8)) ?? ""
        var pages: [String: Objects] = [:]
        var (command, object) = ("", "")
        for line in text.split(separator: "\n") {
            let quoted = line.split(separator: "`", omittingEmptySubsequences: false)
            if line.hasPrefix("## `renewald ") {
                (command, object) = (String(quoted[1].dropFirst("renewald ".count)), "")
            } else if line.hasPrefix("`"), line.hasSuffix(":") {
                object = String(quoted[1])
            } else if line.hasPrefix("| `") {
                let cells = line.split(separator: "|").map { $0.split(separator: " ") }
                let name = cells[0].joined().dropFirst().dropLast()
                pages[command, default: [:]][object, default: [:]][String(name)] =
                    cells[1].joined(separator: " ")
            }
        }
        return pages
    }
}

extension JSONValue {
    /// Gathers the objects by their path. Steps are the same wherever they are; what a map holds
    /// is not described.
    fileprivate func collect(
        at path: String, of page: JSONPage.Objects, into found: inout [String: [JSONFields]]
    ) {
        switch self {
        case .list(let items):
            for item in items { item.collect(at: "\(path)[]", of: page, into: &found) }
        case .object(let fields):
            found[path, default: []].append(fields)
            for (name, value) in fields where page[path]?[name] != "map" {
                let isOuter = path.isEmpty || name == "steps"
                value.collect(at: isOuter ? name : "\(path).\(name)", of: page, into: &found)
            }
        case .null, .flag, .whole, .number, .text: break
        }
    }

    /// Whether the value is what the page calls it.
    fileprivate func matches(_ words: String) -> Bool {
        let isOptional = words.hasSuffix(" or null")
        let kind = isOptional ? String(words.dropLast(" or null".count)) : words
        switch (self, kind) {
        case (.null, _): return isOptional || kind == "null"
        case (.text(let text), "time"): return text.count == 20 && text.hasSuffix("Z")
        case (.text, "text"), (.flag, "true or false"), (.whole, "whole number"),
            (.whole, "number"), (.number, "number"), (.list, "list"), (.object, "object"),
            (.object, "map"):
            return true
        case (.text, _), (.flag, _), (.whole, _), (.number, _), (.list, _), (.object, _):
            return false
        }
    }
}
