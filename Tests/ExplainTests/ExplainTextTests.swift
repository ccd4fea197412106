import Explain
import Renewal
import Testing

@testable import Ledger

/// What `renewald explain` prints on a terminal.
struct ExplainTextTests {
    @Test func tellsWhyAccessWasLost() {
        let told = """
            ada: 1 purchase, as of 2026-11-21 10:45:00 UTC
              does not hold pro, since 2026-11-21 10:31:05 UTC
                cancelled: it ran out after the user had turned renewal off; by purchase 1, monthly
                the store says that it ended 2026-11-21 10:31:00 UTC
                Google Play said then: SUBSCRIPTION_STATE_EXPIRED, expiryTime 2026-11-21T10:31:00Z,
                autoRenewEnabled false, canceled by user

            purchase 1: monthly, google com.example.reader, production
              now        expired, no access, paid through 2026-11-21 10:31:00 UTC
              order      GPA.3301-7742-9918-40211..1 (original GPA.3301-7742-9918-40211)
              submitted  2026-09-21 10:31:00 UTC

              2026-09-21 10:31:02 UTC  new -> active, access none -> granted
                asked      purchases.subscriptionsv2.get: 200, 812 bytes, sha256 9f86d081884c…
                heard      SUBSCRIPTION_STATE_ACTIVE, autoRenewEnabled true
                rule       in force and paid
                until      2026-10-21 10:31:00 UTC
                order      GPA.3301-7742-9918-40211..1
                event      grant pro purchased: bought for the first time (#10)
                then       asked again around 2026-09-28 10:31:02 UTC

              2026-10-21 10:31:09 UTC  active, access granted
                asked      purchases.subscriptionsv2.get: 200, 812 bytes, sha256 9f86d081884c…
                heard      SUBSCRIPTION_STATE_ACTIVE, autoRenewEnabled true
                rule       in force and paid
                until      2026-11-21 10:31:00 UTC
                event      notice renewed: a new period was paid (#4320010)
                then       asked again around 2026-10-28 10:31:09 UTC

              2026-11-04 10:31:00 UTC  no verdict; active, access granted
                asked      purchases.subscriptionsv2.get: 503, 812 bytes, sha256 9f86d081884c…
                heard      the store gave no usable reply
                rule       no verdict, no change
                until      2026-11-21 10:31:00 UTC
                then       asked again around 2026-11-11 10:31:00 UTC

              2026-11-04 10:31:40 UTC  active, access granted
                asked      purchases.subscriptionsv2.get: 200, 812 bytes, sha256 9f86d081884c…
                heard      SUBSCRIPTION_STATE_CANCELED, expiryTime 2026-11-21T10:31:00Z, autoRenewEnabled false,
                           canceled by user
                rule       in force and paid
                until      2026-11-21 10:31:00 UTC
                event      notice auto_renew_off: the user has turned renewal off (#6336010)
                then       asked again around 2026-11-11 10:31:40 UTC

              2026-11-21 10:31:05 UTC  active -> expired, access granted -> none
                asked      purchases.subscriptionsv2.get: 200, 812 bytes, sha256 9f86d081884c…
                heard      SUBSCRIPTION_STATE_EXPIRED, expiryTime 2026-11-21T10:31:00Z, autoRenewEnabled false,
                           canceled by user
                rule       the store says that it is over
                event      revoke pro cancelled: it ran out after the user had turned renewal off; ended
                           2026-11-21 10:31:00 UTC (#8784010)
                then       asked again around 2026-11-28 10:31:05 UTC

              next       Google Play is asked around 2026-11-22 10:31:00 UTC, in case it comes back
            """
        #expect(printed([Sample.lapsed]) == told)
    }

    @Test func tellsWhatIsHeldAndWhatIsAskedNext() {
        let now = Sample.day(40)
        let history = Sample.history(
            now: now,
            holds: [
                Sample.entitlement(
                    active: true, until: Sample.day(61), reason: "purchased", inGrace: true)
            ],
            [
                Sample.purchase(
                    state: .grace, access: .granted, until: Sample.day(61),
                    due: now + .minutes(10), now: now, attempts: 2,
                    problem: "unreachable: the store gave no usable reply",
                    checks: [
                        Sample.Check(
                            at: Sample.day(39), from: ("active", "granted"),
                            to: ("grace", "granted"), until: Sample.day(61),
                            told: [("notice", "payment_pending")])
                    ])
            ])
        let text = printed([history])
        for line in [
            "  holds pro until 2026-11-21 10:31:00 UTC",
            "    the payment failed; the store keeps access on",
            "  now        grace (the payment failed, access goes on), access until "
                + "2026-11-21 10:31:00 UTC,",
            "  problem    unreachable: the store gave no usable reply",
            "  evidence   begins 2026-10-30 10:31:00 UTC; earlier checks have been dropped",
            "  next       Google Play is asked around 2026-10-31 10:41:00 UTC, after 2 checks without a "
                + "verdict",
        ] {
            #expect(text.split(separator: "\n").contains { $0 == line }, "\(line) in \(text)")
        }
    }

    /// What gives access by the configuration alone does not come back then: it ends.
    @Test(arguments: [
        (PurchaseState.expired, Access.granted, "as access is to end then"),
        (.refunded, .granted, "as access is to end then"),
        (.expired, .none, "in case it comes back"), (.refunded, .none, "in case it comes back"),
    ])
    func saysWhyWhatIsOverIsAskedAbout(_ state: PurchaseState, _ access: Access, why: String) {
        let over = Sample.purchase(
            state: state, access: access, until: Sample.day(30), due: Sample.day(62),
            now: Sample.day(61), checks: [])
        #expect(NextCheck(of: over.claim, at: Sample.day(61)).why.hasPrefix(why))
    }

    @Test func saysThatWhatIsOverIsAskedAboutAgain() {
        let over = Sample.purchase(
            state: .refunded, access: .none, until: Sample.day(30), due: Sample.day(62),
            now: Sample.day(61), attempts: 1, checks: [])
        #expect(
            NextCheck(of: over.claim, at: Sample.day(61)).why == "after a check without a verdict")
    }

    @Test(arguments: [
        ([], "in a regular check at the latest"),
        ([Signal.unacknowledged], "to see whether somebody has acknowledged it"),
    ])
    func saysThatItLooksForAnAcknowledgement(_ signals: [Signal], why: String) {
        let active = Sample.purchase(
            state: .active, access: .granted, until: Sample.day(30), due: Sample.day(2),
            now: Sample.day(1), signals: Set(signals), checks: [])
        #expect(NextCheck(of: active.claim, at: Sample.day(1)).why == why)
    }

    /// Where nobody may ask a store, nothing is asked as soon as possible.
    @Test(arguments: [
        (nil, nil, "Google Play is asked as soon as possible"),
        (Sample.day(40), nil, "Google Play wants no calls until 2026-10-31 10:31:00 UTC"),
        (
            Sample.day(40), Sample.day(1),
            "google/com.example.reader is paused; renewald resume google/com.example.reader ends it"
        ),
    ])
    func saysWhyWhatIsDueIsNotAskedAbout(
        _ blocked: Timestamp?, _ paused: Timestamp?, _ words: String
    ) {
        let due = Sample.purchase(
            state: .active, access: .granted, until: Sample.day(30), due: Sample.day(30),
            now: Sample.day(31), checks: [])
        let bucket = QueueStatus.Bucket(
            name: BucketID(of: due.claim.purchase.app), aheadSeconds: 0, readAt: Sample.day(31),
            freeAt: Sample.day(31), blockedUntil: blocked, pausedAt: paused)
        let next = NextCheck(of: due.claim, while: [bucket.name: bucket], at: Sample.day(31))
        #expect(next.sentence.hasSuffix(words), "\(next.sentence)")
        let later = NextCheck(of: due.claim, while: [bucket.name: bucket], at: Sample.day(1))
        #expect(
            later.sentence.hasSuffix(
                ", if google/com.example.reader, which is paused, is resumed by then")
                == (paused != nil))
        let circuit = QueueStatus.Bucket(
            name: BucketID(ofCircuitOf: due.claim.purchase.app), aheadSeconds: 0,
            readAt: Sample.day(31), freeAt: Sample.day(31), blockedUntil: Sample.day(40),
            pausedAt: nil)
        let app = due.claim.purchase.app
        #expect(
            NextCheck(of: due.claim, without: [app], at: Sample.day(31)).sentence.hasSuffix(
                ": nobody asks, as no worker has google/com.example.reader configured"))
        #expect(
            NextCheck(of: due.claim, without: [app], at: Sample.day(1)).sentence.hasSuffix(
                ", if any worker has google/com.example.reader configured by then"))
        let failing = NextCheck(of: due.claim, while: [circuit.name: circuit], at: Sample.day(31))
        #expect(failing.sentence.hasSuffix("is only probed until it answers again"))
    }

    @Test func knowsNobodyByThatName() {
        #expect(printed([], question: "eve") == "eve: no purchases")
        #expect(
            printed([], notes: ["Google Play does not know this order"], question: "GPA.1")
                == "Google Play does not know this order\nGPA.1: no purchases")
    }

    /// Who pastes a token in place of an id shall not find it in a log of the terminal.
    @Test func doesNotRepeatWhatMayBeAToken() {
        #expect(
            printed([], question: String(repeating: "t", count: 200)) == "that id: no purchases")
    }

    @Test func neverShowsAToken() {
        let amazon = AppKey(store: .amazon, id: "com.example.reader")
        let history = Sample.history([
            Sample.purchase(
                app: amazon, state: .active, access: .granted, orderID: OrderID(Sample.token.text),
                checks: [Sample.Check(at: Sample.start, told: [("grant", "purchased")])])
        ])
        let text = printed([history])
        #expect(!text.contains("planted") && text.contains("amazon com.example.reader"))
    }

    @Test func showsEventsWhoseCheckIsNotKept() {
        var purchase = Sample.lapsed.purchases[0]
        purchase = PurchaseHistory(
            claim: purchase.claim, evidence: Array(purchase.evidence.dropFirst()),
            events: purchase.events)
        let text = printed([Sample.history([purchase])])
        #expect(text.contains("  2026-09-21 10:31:02 UTC  the check is not kept\n    event"))
        #expect(text.contains("  evidence   begins 2026-10-21 10:31:09 UTC; earlier checks"))
    }

    @Test func tellsWhatTheStoreAskedAboutRefundsAndWhatCameOfIt() {
        let lapsed = Sample.lapsed.purchases[0]
        let text = printed([
            Sample.history([
                PurchaseHistory(
                    claim: lapsed.claim, evidence: lapsed.evidence, events: lapsed.events,
                    refunds: Sample.refunds)
            ])
        ]).split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(
            text.contains(
                "request 3 about order GPA.3301-7742-9918-40211..1, asked 2026-09-22 10:31:00 UTC "
                    + "(4); the app answered decline 2026-09-22 12:31:00 UTC; the store declined "
                    + "the refund; unreachable: time-out"), "\(text)")
        #expect(text.contains("request 4 about") && text.contains("; to be answered by 2026-10-01"))
    }

    @Test func saysWhoseItWas() {
        let moved = Sample.purchase(
            user: "bob", state: .active, access: .granted,
            checks: [Sample.Check(at: Sample.start, told: [("grant", "transferred")])])
        #expect(
            printed([Sample.history(user: "ada", [moved])])
                .contains("    user       bob, who had it then\n    asked "))
        #expect(!printed([Sample.history(user: "bob", [moved])]).contains("who had it then"))
    }

    @Test func saysWhomTheAppNamedToTheStore() {
        for (account, said) in [("ada", "ada (this user)"), ("bob", "bob"), (nil, nil)] {
            let purchase = Sample.purchase(
                state: .active, access: .granted, account: account.map { UserID($0) },
                checks: [Sample.Check(at: Sample.start)])
            let rows = printed([Sample.history([purchase])]).split(separator: "\n")
                .filter { $0.hasPrefix("  account ") }
            #expect(
                rows.map(String.init)
                    == (said.map { ["  account    \($0), named to the store by the app"] } ?? []))
        }
    }

    @Test func whatComesFromOutsideCannotSteerTheTerminal() {
        let evil = "a\u{1b}[2Jb\nc\u{202e}d\u{9b}e"
        let text = printed([
            Sample.history(
                user: UserID(evil),
                [
                    Sample.purchase(
                        user: UserID(evil), product: ProductID(evil), state: .active,
                        access: .granted,
                        checks: [Sample.Check(at: Sample.start, heard: evil)])
                ])
        ])
        #expect(!text.unicodeScalars.contains { $0 != "\n" && $0.properties.isBidiControl })
        #expect(!text.unicodeScalars.contains { "\u{1b}\u{9b}".unicodeScalars.contains($0) })
        #expect(text.contains("a\u{fffd}[2Jb\u{fffd}c\u{fffd}d\u{fffd}e: 1 purchase"))
    }

    @Test func fitsAWindow() {
        let text = printed([Sample.crowd(purchases: 8, checks: 300)])
        for line in text.split(separator: "\n") { #expect(line.count <= 100, "\(line)") }
    }

    @Test func coloursOnlyWhereAsked() {
        #expect(!printed([Sample.lapsed]).contains("\u{1b}"))
        let coloured = printed([Sample.lapsed], isColoured: true)
        #expect(coloured.contains("\u{1b}[31mdoes not hold pro"))
        let plain = coloured.replacing(/\u{1b}\[\d+m/, with: "")
        #expect(plain == printed([Sample.lapsed]))
    }

    private func printed(
        _ users: [UserHistory], finding: Explanation.Finding = .user, notes: [String] = [],
        question: String = "ada", isColoured: Bool = false
    ) -> String {
        let explanation = Explanation(
            finding: finding, now: users.first?.now ?? Sample.start, notes: notes, users: users)
        return ExplanationText(explanation, question: question).lines
            .flatMap { $0.printed(width: 100, isColoured: isColoured) }
            .joined(separator: "\n")
    }

    /// A receipt of Amazon's belongs to one Amazon user: who names another one waits in vain.
    /// As long as Amazon has found nothing, the other id may be the right one.
    @Test(
        arguments: [([], .production), (["bob"], .production), ([], nil)]
            as [([UserID], StoreEnvironment?)])
    func saysThatAnotherAmazonUserClaimsNothing(
        _ claimants: [UserID], _ environment: StoreEnvironment?
    ) {
        var facts = Facts(product: "pro")
        facts.environment = environment
        var purchase = Purchase(
            id: 1, userID: "ann", app: AppKey(store: .amazon, id: "com.example.reader"),
            token: "receipt", storeUserID: "hers",
            createdAt: Timestamp(microsecondsSinceEpoch: 0), facts: facts)
        purchase.claimants = claimants
        let chances = Explanation.Claimed(purchase, for: "bob").chances
        let isInVain = claimants.isEmpty && environment != nil
        #expect(chances.contains("another Amazon user id") == isInVain)
    }
}
