import Postgres
import Synchronization
import TestSupport

/// The database of a stage: what is submitted, what is told, and waiting for it.
extension Stage {
    /// Submits a purchase as a backend does.
    @discardableResult
    func submit(
        _ purchase: Made, token: String? = nil, _ store: String, for user: String
    ) async throws -> Int64 {
        try await database.query(
            PostgresStatement(
                "SELECT renewald.submit($1, $2, $3, $4, $5, $6) AS id",
                [
                    .text(user), .text(store), .text(Self.app), .text(purchase.product),
                    .text(token ?? purchase.token),
                    purchase.store_user_id.map { .text($0) } ?? .null,
                ]))[0].int64("id")
    }

    /// Submits many, in one statement.
    func submit(_ purchases: [Made], _ store: String, users: (Int) -> String) async throws {
        _ = try await database.query(
            PostgresStatement(
                """
                SELECT count(renewald.submit(user_id, $2, $3, product, token, store_user_id))
                FROM unnest($1::text[], $4::text[], $5::text[], $6::text[])
                    AS made (user_id, product, token, store_user_id)
                """,
                [
                    .texts(purchases.indices.map(users)), .text(store), .text(Self.app),
                    .texts(purchases.map(\.product)), .texts(purchases.map(\.token)),
                    .optionalTexts(purchases.map(\.store_user_id)),
                ]))
    }

    /// Runs a text of statements.
    func script(_ sql: String) async throws { try await database.script(sql) }

    /// One value, as text.
    func value(_ sql: String, _ parameters: [PostgresValue] = []) async throws -> String {
        let result = try await database.query(
            PostgresStatement("SELECT (\(ScratchCluster.readable(sql)))::text AS value", parameters)
        )
        return try result[0].optionalText("value") ?? ""
    }

    /// A user's story: `grant pro purchased`, `notice renewed`, … in the order of their commits.
    func story(of user: String) async throws -> [String] {
        let result = try await database.query(
            PostgresStatement(
                """
                SELECT concat_ws(' ', kind, entitlement, reason) AS line
                FROM renewald.events WHERE user_id = $1 ORDER BY id
                """, [.text(user)]))
        return try result.rows.map { try $0.text("line") }
    }

    /// Waits until the user's story is as told, and no longer.
    func expect(
        _ story: [String], of user: String, within limit: Duration = .seconds(30)
    ) async throws {
        try await wait(within: limit) { try await self.story(of: user).count >= story.count }
        let told = try await self.story(of: user)
        guard told == story else {
            throw StageFailure("told \(told), expected \(story)")
        }
    }

    /// Waits until something is true. Looks again whenever the database has news, and ten times a
    /// second.
    func wait(
        within limit: Duration = .seconds(30), for isTrue: () async throws -> Bool
    ) async throws {
        let deadline = ContinuousClock.now + limit
        try await database.listen(["renewald_events"])
        while try await !isTrue() {
            guard ContinuousClock.now < deadline else {
                throw StageFailure("waited in vain; the programs said:\n\(lastWords)")
            }
            _ = try await database.nextNotification(timeout: .milliseconds(100))
        }
    }

    private var lastWords: String {
        started.withLock { $0 }.map { $0.lines.suffix(12).joined(separator: "\n") }
            .joined(separator: "\n--\n")
    }

    /// A digest of every table of the schema.
    func fingerprint() async throws -> String {
        let tables = try await database.query(
            PostgresStatement(
                """
                SELECT tablename FROM pg_tables
                WHERE schemaname = 'renewald' AND tablename <> 'bucket' ORDER BY 1
                """))
        var digests: [String] = []
        for row in tables.rows {
            let table = try row.text("tablename")
            digests.append(
                try await value(
                    "SELECT md5(string_agg(row::text, '|' ORDER BY row::text)) "
                        + "FROM renewald.\(table) AS row"))
        }
        return digests.joined(separator: " ")
    }
}
