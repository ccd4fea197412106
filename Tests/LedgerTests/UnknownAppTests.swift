import Postgres
import Renewal
import Testing

@testable import Ledger

/// Apps that nobody has configured, and how many names there may be.
@Suite(.serialized) struct UnknownAppTests {
    private static let reader = AppKey(store: .google, id: "com.example.reader")
    private static let typo = AppKey(store: .google, id: "com.example.raeder")

    private func problems(_ stage: Stage) async throws -> [String] {
        try await stage.list(
            """
            SELECT app || ' ' || coalesce(problem, '-') || ' ' || (next_check_at IS NOT NULL)
            FROM renewald.purchases ORDER BY app
            """)
    }

    private func worker(_ stage: Stage) async throws -> WorkerID {
        let worker = WorkerID.random()
        _ = try await stage.ledger.beat(worker, name: "test", lease: .seconds(60))
        return worker
    }

    /// A backend submits the first purchase of an app in a transaction that it leaves open.
    @Test func whatABackendIsAboutToSubmitForKeepsNoOtherAppWaiting() async throws {
        let stage = try await Stage()
        let worker = try await worker(stage)
        let backend = stage.session("backend")
        try await backend.script(
            "BEGIN; SELECT renewald.submit('ann', 'google', 'com.example.raeder', 'pro', 'own')")
        let configured = try await stage.ledger.configure([Self.typo, Self.reader], by: worker)
        #expect(configured.lanes.map(\.app) == [Self.reader])
        #expect(configured.waiting == [Self.typo])
        try await backend.script("COMMIT")
        let later = try await stage.ledger.configure([Self.typo, Self.reader], by: worker)
        #expect(Set(later.lanes.map(\.app)) == [Self.reader, Self.typo])
        #expect(later.waiting == [])
        await backend.close()
    }

    /// Of what is due in a shard its worker serves its own apps alone.
    @Test func workersThatHaveDifferentAppsHearOfIt() async throws {
        let stage = try await Stage()
        let (one, other) = (try await worker(stage), try await worker(stage))
        func uneven(_ worker: WorkerID, _ apps: AppKey...) async throws -> [String] {
            try await stage.ledger.configure(apps, by: worker).uneven.map {
                "\($0.app.id) \($0.isLacking) \($0.without)"
            }
        }
        #expect(try await uneven(one, Self.reader) == [], "the other has not said yet")
        #expect(
            try await uneven(other, Self.reader, Self.typo)
                == [#"com.example.raeder false ["test"]"#])
        #expect(try await uneven(one, Self.reader) == [#"com.example.raeder true ["test"]"#])
        #expect(try await stage.ledger.unevenApps().map(\.isLacking) == [false])
        var places: Set<Int> = []
        for (worker, apps) in [(one, [Self.reader]), (other, [Self.reader, Self.typo])] {
            let turns = try await stage.ledger.configure(apps, by: worker).turns
            #expect(turns?.workers == 2)
            places.insert(try #require(turns?.place))
        }
        #expect(places == [0, 1])
        #expect(try await uneven(one, Self.typo, Self.reader) == [])
        #expect(
            try await stage.ledger.configure([Self.typo, Self.reader], by: one).turns == nil)
        #expect(
            try await uneven(one, Self.typo).count == 1)
        try await stage.ledger.leave(other)
        #expect(try await uneven(one, Self.typo) == [], "it is alone")
    }

    @Test func itsPurchasesSaySoAndAreDueAsSoonAsItIsConfigured() async throws {
        let stage = try await Stage()
        try await stage.submit("ann", "1")
        try await stage.submit("bob", "2", app: Self.typo.id.text)
        let unjudged = [
            "com.example.raeder - true", "com.example.reader - true",
        ]
        #expect(try await problems(stage) == unjudged)
        let worker = try await worker(stage)
        let configured = try await stage.ledger.configure([Self.reader], by: worker)
        #expect(configured.lanes.map(\.app) == [Self.reader])
        #expect(
            try await problems(stage) == [
                "com.example.raeder unsupported: this app is not configured false",
                "com.example.reader - true",
            ])
        // One that is submitted from now on says so without anybody's doing.
        try await stage.submit("cid", "3", app: Self.typo.id.text)
        let unsupported = "problem = 'unsupported: this app is not configured'"
        #expect(
            try await stage.number(
                "SELECT count(*) FROM renewald.purchases WHERE \(unsupported)") == 2)
        let status = try await stage.ledger.status()
        #expect(status.apps.map(\.isConfigured) == [false, true])
        #expect(status.apps[0].problems == [.unsupported: 2])
        #expect(status.apps[0].due == 0)
        #expect(try await stage.ledger.queueDepth().apps.map(\.key) == [Self.reader])
        let strange = try await stage.ledger.appsBeside([Self.reader])
        #expect(strange.map(\.app) == [Self.typo])
        #expect(strange.map(\.purchases) == [2])
        #expect(
            try await stage.ledger.claims(ofUser: "bob").map(\.problem)
                == ["unsupported: this app is not configured"])
        #expect(try await stage.ledger.history(ofUser: "bob").unserved == [Self.typo])
        #expect(try await stage.ledger.history(ofUser: "ann").unserved == [])

        let both = try await stage.ledger.configure([Self.typo, Self.reader], by: worker)
        #expect(both.lanes.count == 2)
        #expect(try await problems(stage).allSatisfy { $0.hasSuffix(" - true") })
        let shards = (0..<256).map(Int16.init)
        let heads = try await stage.ledger.heads(of: both.lanes, in: shards, after: 0)
        #expect(both.lanes.allSatisfy { heads.dueAt[$0.number].map { $0 <= heads.now } ?? false })
    }

    @Test func whatOneWorkerOfSeveralHasConfiguredIsConfigured() async throws {
        let stage = try await Stage()
        try await stage.submit("ann", "1")
        let (one, other) = (try await worker(stage), try await worker(stage))
        _ = try await stage.ledger.configure([Self.reader], by: one)
        _ = try await stage.ledger.configure([], by: other)
        #expect(try await problems(stage) == ["com.example.reader - true"])
        try await stage.ledger.leave(one)
        _ = try await stage.ledger.configure([], by: other)
        #expect(
            try await problems(stage)
                == ["com.example.reader unsupported: this app is not configured false"])
    }

    /// In 0.1 each look at the apps spent a number for each of them.
    @Test func noNumberIsSpentOnAnAppThatIsKnown() async throws {
        let stage = try await Stage()
        let worker = try await worker(stage)
        let apps = (1...50).map { AppKey(store: .apple, id: "com.example.\($0)") }
        for _ in 0..<20 { _ = try await stage.ledger.configure(apps, by: worker) }
        for _ in 0..<20 {
            _ = try await stage.ledger.take(
                HintDelivery(
                    HintPage(hints: []), from: "google voided", about: apps[0], by: worker,
                    lease: .seconds(1), began: .never))
            try await stage.submit("ann", "1", store: "apple", app: "com.example.1")
        }
        #expect(try await stage.number("SELECT max(lane) FROM renewald.app") == 50)
        #expect(try await stage.number("SELECT last_value FROM renewald.app_lane_seq") == 50)
    }

    @Test func whatIsGrantedWithoutAnEndIsCountedByProduct() async throws {
        let stage = try await Stage()
        for (user, product) in [("ann", "pass"), ("bob", "pass"), ("cid", "gold")] {
            try await stage.submit(user, "token of \(user)", product: product)
        }
        try await stage.beside.script(
            """
            UPDATE renewald.schedule SET problem = 'unsupported: no duration is configured'
            FROM renewald.purchase AS purchase
            WHERE purchase.id = schedule.id AND purchase.product = 'pass'
            """)
        #expect(try await stage.ledger.endlessProducts().isEmpty, "the app is not configured")
        _ = try await stage.ledger.configure([Self.reader], by: try await worker(stage))
        #expect(
            try await stage.ledger.endlessProducts() == [
                EndlessProduct(app: Self.reader, product: "pass", purchases: 2)
            ])
    }

    /// Names cost whoever invents them nothing.
    @Test func inventedNamesDoNotHideAnAppWithManyPurchases() async throws {
        let stage = try await Stage()
        try await stage.beside.script(
            """
            INSERT INTO renewald.app (store, app)
            SELECT 'google', 'early ' || number FROM generate_series(1, 150) AS number;
            SELECT renewald.submit(
                'user ' || number, 'google', 'com.example.raeder', 'pro', 'token ' || number)
            FROM generate_series(1, 2000) AS number;
            SELECT renewald.submit('fool', 'google', 'late ' || number, 'pro', 'late ' || number)
            FROM generate_series(1, 150) AS number
            """)
        let strange = try await stage.ledger.appsBeside([Self.reader])
        #expect(
            strange.first.map { [$0.app.id.text, "\($0.purchases)"] } == [
                Self.typo.id.text, "2000",
            ])
        #expect(strange.count <= 100)
    }

    @Test func aLookThatFindsNothingNewWritesNothing() async throws {
        let stage = try await Stage()
        try await stage.beside.script(
            """
            INSERT INTO renewald.app (store, app)
            SELECT 'google', 'name ' || number FROM generate_series(1, 10000) AS number
            """)
        let worker = try await worker(stage)
        _ = try await stage.ledger.configure([Self.reader], by: worker)
        let versions = "SELECT lane || ' ' || xmin::text FROM renewald.app ORDER BY lane"
        let before = try await stage.list(versions)
        #expect(before.count == 10_001)
        let answer = try await stage.ledger.configure([Self.reader], by: worker)
        #expect(try await stage.list(versions) == before)
        #expect(answer.lanes.map(\.number) == [10_001])
        #expect(answer.highest == 10_001)
    }

    @Test func appsBeyondTheOldLimitAreServed() async throws {
        let stage = try await Stage()
        try await stage.beside.script(
            "ALTER SEQUENCE renewald.app_lane_seq RESTART WITH 2000000000")
        let lease = try await stage.takeAll()
        let claim = try #require(try await stage.claims(of: ["ann"], lease).first)
        #expect(claim.lane == 2_000_000_000)
        _ = try await stage.ledger.mark([claim.shard: [claim.purchase.id]], under: lease)
        let report = try await stage.ledger.commit(
            [outcome(claim, inForce(claim))], under: lease, at: claim.claimedAt)
        #expect(report.events.count == 1)
        // Again, and by another user.
        try await stage.submit("ann", "token of ann")
        try await stage.submit("bob", "token of ann")
        #expect(try await stage.due(lease).count == 1)
    }

    /// Later migrations must not narrow it again.
    @Test func nothingHoldsALaneInLess() async throws {
        let stage = try await Stage()
        let columns = try await stage.list(
            """
            SELECT attrelid::regclass::text FROM pg_attribute
            JOIN pg_class ON pg_class.oid = attrelid
            WHERE relnamespace = 'renewald'::regnamespace AND attname LIKE '%lane'
                AND atttypid = 'int2'::regtype
            """)
        let functions = try await stage.list(
            """
            SELECT oid::regprocedure::text FROM pg_proc
            WHERE pronamespace = 'renewald'::regnamespace AND prokind = 'f'
                AND pg_get_functiondef(oid) ~ 'lane (int2|smallint)\\M'
            """)
        #expect(columns == [])
        #expect(functions == [])
    }
}
