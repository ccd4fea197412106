import Postgres
package import Renewal

/// What another system believes of a user and an entitlement.
package struct TheirRow: Hashable, Sendable {
    /// Of the row, from 1 on.
    package let number: Int64
    package let userID: UserID
    package let entitlement: EntitlementID
    package let isActive: Bool

    package init(number: Int64, userID: UserID, entitlement: EntitlementID, isActive: Bool) {
        self.number = number
        self.userID = userID
        self.entitlement = entitlement
        self.isActive = isActive
    }
}

/// What a run has found in numbers, before it has looked for causes.
package struct ShadowCounts: Hashable, Sendable {
    /// Users and entitlements that either side names.
    package let compared: Int64
    package let agree: Int64
    /// What their rows name more than once.
    package let doubled: Int64
    /// What their rows contradict each other about, and the number of the first row of one.
    package let contradictory: Int64
    package let example: Int64?
    /// Those that they name at all; not all of them beyond a thousand.
    package let known: Set<EntitlementID>
    package let knowsMore: Bool
}

/// A difference of this run.
package struct ShadowFinding: Hashable, Sendable {
    package let id: Int64
    package let shard: Int16
    package let userID: UserID
    package let entitlement: EntitlementID
    package let who: ShadowClass
    package let firstSeenAt: Timestamp
    package let lastSeenAt: Timestamp
    package let lastHeldBy: Int64?
    /// The product of that purchase which gave it then.
    package let lastProduct: ProductID?
    /// When the last event took effect that they may not know of.
    package let toldAt: Timestamp?
    /// Purchases whose end was moved without payment since they were paid last.
    package let moved: Set<Int64>
}

/// The differences of one class that have one cause.
package struct ShadowTally: Hashable, Sendable {
    package let who: ShadowClass
    package let cause: ShadowCause
    /// Users and entitlements.
    package let count: Int64
    /// Users.
    package let people: Int64
    /// How long it has been so, on average.
    package let age: Duration

    package init(
        who: ShadowClass, cause: ShadowCause, count: Int64, people: Int64, age: Duration
    ) {
        self.who = who
        self.cause = cause
        self.count = count
        self.people = people
        self.age = age
    }
}

/// What a run has counted in the end.
package struct ShadowRun: Hashable, Sendable {
    package let at: Timestamp
    package var compared: Int64 = 0
    package var agree: Int64 = 0
    package var unsettled: Int64 = 0
    package var theyGrant: Int64 = 0
    package var weGrant: Int64 = 0
    package var healed: Int64 = 0

    package init(at: Timestamp) { self.at = at }
}

/// One run, in one transaction: what it reads, finds and notes is there whole or not at all.
package struct Shadowing: Sendable {
    private let connection: PostgresConnection
    private let system: String
    private let only: [EntitlementID]
    private let run: Int64
    /// By the database's clock.
    package let at: Timestamp

    fileprivate init(
        _ connection: PostgresConnection, _ system: String, _ only: [EntitlementID]
    ) async throws(PostgresError) {
        self.connection = connection
        self.system = system
        self.only = only
        let row = try await connection.query(SQL.shadowBegin(["system": .text(system)]))[0]
        run = try row.int64("run")
        at = try row.instant("ran_at")
    }

    /// Takes rows of theirs in, to be compared.
    package func take(_ rows: [TheirRow]) async throws {
        guard !rows.isEmpty else { return }
        try await connection.query(
            SQL.shadowTake([
                "n": .int64s(rows.map(\.number)), "user_id": .texts(rows.map(\.userID)),
                "entitlement": .texts(rows.map(\.entitlement)),
                "active": .bools(rows.map(\.isActive)),
            ]))
    }

    /// Compares what was taken in, and notes each difference.
    package func compare() async throws -> ShadowCounts {
        let row = try await connection.query(
            SQL.shadowCompare([
                "system": .text(system), "run": .int64(run), "at": .instant(at),
                "only": .texts(only),
            ]))[0]
        let known: [EntitlementID] = try row.texts("known")
        return ShadowCounts(
            compared: try row.int64("compared"), agree: try row.int64("agree"),
            doubled: try row.int64("doubled"), contradictory: try row.int64("contradictory"),
            example: try row.optionalInt64("example"), known: Set(known),
            knowsMore: known.count == Self.knownLimit)
    }

    private static let knownLimit = 1000

    /// The next differences, after the one with the given id.
    package func findings(after id: Int64, limit: Int) async throws -> [ShadowFinding] {
        try await connection.query(
            SQL.shadowPage([
                "system": .text(system), "run": .int64(run), "after": .int64(id),
                "limit": .int32(Int32(limit)),
            ])
        ).rows.map { row in
            ShadowFinding(
                id: try row.int64("id"), shard: try row.int16("shard"),
                userID: try row.text("user_id"), entitlement: try row.text("entitlement"),
                who: try row.word("class"), firstSeenAt: try row.instant("first_seen_at"),
                lastSeenAt: try row.instant("last_seen_at"),
                lastHeldBy: try row.optionalInt64("last_held_by"),
                lastProduct: try row.optionalText("last_product"),
                toldAt: try row.optionalInstant("told_at"), moved: Set(try row.int64s("moved")))
        }
    }

    /// The entitlements that are held here, or were; of those that are compared, all.
    package func known() async throws -> [EntitlementID] {
        try await connection.query(
            SQL.shadowKnown([
                "only": .texts(only), "limit": .int32(Int32(max(only.count, Self.namedLimit))),
            ])
        ).rows.map { try $0.text("entitlement") }
    }

    private static let namedLimit = 50

    /// Notes why there is each difference, and since when.
    package func decide(
        _ decided: [(finding: ShadowFinding, cause: ShadowCause, since: Timestamp?)]
    ) async throws {
        try await connection.query(
            SQL.shadowDecide([
                "id": .int64s(decided.map(\.finding.id)),
                "cause": .texts(decided.map(\.cause.rawValue)),
                "since": .optionalInstants(decided.map(\.since)),
            ]))
    }

    /// Notes what is not there any more.
    ///
    /// - Returns: how many differences have healed since the run before.
    package func heal() async throws -> Int64 {
        try await connection.query(
            SQL.shadowHeal([
                "system": .text(system), "run": .int64(run), "at": .instant(at),
                "only": .texts(only),
            ]))[0].int64("healed")
    }

    /// The differences by their causes.
    ///
    /// - Parameter settle: how old a difference is that counts.
    /// - Returns: those that count.
    /// - Throws: what the database says.
    package func tally(settle: Duration) async throws -> [ShadowTally] {
        try await connection.query(
            SQL.shadowTally([
                "system": .text(system), "run": .int64(run), "at": .instant(at),
                "settle": .int64(settle.microseconds),
            ])
        ).rows.map { row in
            ShadowTally(
                who: try row.word("class"), cause: try row.word("cause"),
                count: try row.int64("differences"), people: try row.int64("people"),
                age: .microseconds(try row.int64("age")))
        }
    }

    /// Keeps what was counted.
    package func end(_ counted: ShadowRun) async throws {
        try await connection.query(
            SQL.shadowEnd([
                "system": .text(system), "run": .int64(run), "at": .instant(at),
                "compared": .int64(counted.compared), "agree": .int64(counted.agree),
                "unsettled": .int64(counted.unsettled), "they_grant": .int64(counted.theyGrant),
                "we_grant": .int64(counted.weGrant), "healed": .int64(counted.healed),
            ]))
    }

    /// What the latest runs have counted, this one included once it has ended; the oldest first.
    package func history(limit: Int) async throws -> [ShadowRun] {
        try await connection.query(
            SQL.shadowRuns(["system": .text(system), "limit": .int32(Int32(limit))])
        ).rows.map { row in
            var run = ShadowRun(at: try row.instant("at"))
            run.compared = try row.int64("compared")
            run.agree = try row.int64("agree")
            run.unsettled = try row.int64("unsettled")
            run.theyGrant = try row.int64("they_grant")
            run.weGrant = try row.int64("we_grant")
            run.healed = try row.int64("healed")
            return run
        }
    }
}

/// Where a run is made: a connection of its own, as it works for long.
package struct ShadowPlace: Sendable {
    private let settings: PostgresSettings

    /// How long a statement over a whole fleet may take, and another run about the same system be
    /// waited for.
    private static let limit = Duration.minutes(10)

    /// - Parameters:
    ///   - conninfo: of renewald's own database.
    ///   - patience: how long the other side may take for a part of its rows.
    package init(_ conninfo: String, patience: Duration) {
        var settings = PostgresSettings(
            conninfo: conninfo, applicationName: "renewald shadow", statementTimeout: Self.limit)
        settings.idleLimit = Self.limit + patience
        settings.lockLimit = Self.limit
        self.settings = settings
    }

    /// Makes a run, and keeps what it notes unless it throws.
    ///
    /// - Parameters:
    ///   - system: which other system it is about.
    ///   - only: the entitlements that are compared; empty is all.
    ///   - body: takes in, compares, decides, ends.
    /// - Returns: what `body` gives.
    /// - Throws: what `body` throws; `LedgerError` for what the database says.
    package func run<Value: Sendable>(
        about system: String, only: [EntitlementID],
        _ body: @escaping @Sendable (Shadowing) async throws -> Value
    ) async throws -> Value {
        let connection = PostgresConnection(settings)
        do {
            let value = try await connection.transaction { connection in
                try await body(try await Shadowing(connection, system, only))
            }
            await connection.close()
            return value
        } catch let error as PostgresError {
            await connection.close()
            throw LedgerError(error)
        } catch {
            await connection.close()
            throw error
        }
    }
}
