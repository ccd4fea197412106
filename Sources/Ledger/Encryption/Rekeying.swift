import Postgres
package import Renewal

/// What `rekey` came to.
package struct RekeyReport: Hashable, Sendable {
    /// Tokens and receipts, with what the stores have named since: a purchase each.
    package internal(set) var credentials: Int64 = 0
    /// Checks whose kept answers were written anew.
    package internal(set) var answers: Int64 = 0
    /// What could not be decrypted, and stays as it is.
    package internal(set) var unreadable: Int64 = 0
    /// The first purchases of those, and what lacks.
    package internal(set) var examples: [Undecipherable] = []
    /// What others have written meanwhile that is not as it should be, up to `countLimit`.
    package internal(set) var left: Int64 = 0
    /// Data keys that nothing is encrypted with any more, and that are gone.
    package internal(set) var droppedDataKeys: Int64 = 0

    package static let countLimit: Int64 = 1000

    package init() {}

    static let exampleLimit = 10

    fileprivate mutating func add(unreadable id: Int64, _ lack: String?) {
        unreadable += 1
        guard examples.count < Self.exampleLimit else { return }
        examples.append(Undecipherable(purchaseID: id, lack: lack))
    }
}

/// A purchase of which something is encrypted and cannot be read.
package struct Undecipherable: Hashable, Sendable {
    package let purchaseID: Int64
    package let reason: String

    /// What mends it: the end of a sentence.
    package static let remedy =
        "comes back with its row of a backup, or with its token in clear: \"A row was altered\" in "
        + "docs/operations.md"

    static let altered = "altered, or moved here from another purchase"

    /// - Parameters:
    ///   - purchaseID: of the purchase.
    ///   - lack: the key that lacks, in words; nil for what was altered.
    init(purchaseID: Int64, lack: String?) {
        self.purchaseID = purchaseID
        reason = lack.map { "encrypted with \($0), which is not here" } ?? Self.altered
    }
}

extension PostgresLedger {
    /// Times that everything is gone through: rows that move meanwhile are met the next time.
    private static let rekeyPasses = 4
    private static let rekeyRows: Int32 = 500
    private static let rekeyBytes: Int64 = 8 << 20

    /// Encrypts with a data key of the newest key what is in clear or encrypted otherwise; where
    /// all is to be in clear, decrypts. A page is a transaction: what ends in the midst of it is
    /// gone on with by the next call. Others may work meanwhile, another rekey too.
    ///
    /// - Parameter tell: hears how far it is, after each page.
    /// - Returns: what it came to. Data keys are dropped only where nothing needs them.
    /// - Throws: `.unavailable` without a database; what was done stays done.
    package func rekey(
        tell: @Sendable (RekeyReport) throws -> Void = { _ in }
    ) async throws -> RekeyReport {
        var report = RekeyReport()
        guard let cipher = vault.cipher else { return report }
        let owner = PostgresValue.key(cipher.newest)
        _ = try await attempt { try await self.writes.query(SQL.retireDataKeys(owner)) }
        vault.forgetCurrent()
        for pass in 0..<Self.rekeyPasses {
            var sweep = RekeyReport()
            sweep.credentials = report.credentials
            sweep.answers = report.answers
            try await rekeyCredentials(owner, into: &sweep, tell)
            try await rekeyAnswers(owner, into: &sweep, tell)
            report = sweep
            report.left = try await countLeft()
            if report.left <= report.unreadable || pass == Self.rekeyPasses - 1 { break }
        }
        report.droppedDataKeys = try await dropDataKeys()
        return report
    }

    /// How many credentials and kept answers are not as `rekey` would leave them: each is counted
    /// up to a limit.
    package func countLeft() async throws(LedgerError) -> Int64 {
        let owner = PostgresValue.key(vault.cipher?.newest)
        return try await attempt {
            let row = try await self.writes.query(
                SQL.rekeyLeft(owner, .int64(RekeyReport.countLimit)))[0]
            return try row.int64("credentials") + row.int64("answers")
        }
    }

    private func rekeyCredentials(
        _ owner: PostgresValue, into report: inout RekeyReport,
        _ tell: @Sendable (RekeyReport) throws -> Void
    ) async throws {
        var last = (shard: Int16(-1), id: Int64(0))
        while true {
            let (shard, id) = last
            let rows = try await attempt {
                Array(
                    try await self.reads.query(
                        SQL.rekeyCredentialPage(
                            owner, .int16(shard), .int64(id), .int32(Self.rekeyRows),
                            .int64(Self.rekeyBytes))
                    ).rows)
            }
            guard let end = rows.last else { return }
            last = try await attempt { (try end.int16("shard"), try end.int64("id")) }
            let seals = try await attempt {
                try await self.seals(of: rows, in: ["sealed", "sealed_asked_with"])
            }
            let sealer = try await sealer(for: rows.count * 2)
            var page: [CredentialRow] = []
            for row in rows {
                do throws(CredentialRow.Failure) {
                    page.append(try CredentialRow(row, seals).rewritten(by: sealer))
                } catch {
                    report.add(unreadable: error.id, error.lack)
                }
            }
            report.credentials += try await write(page.statement, sealer)
            try tell(report)
        }
    }

    private func rekeyAnswers(
        _ owner: PostgresValue, into report: inout RekeyReport,
        _ tell: @Sendable (RekeyReport) throws -> Void
    ) async throws {
        var last = (id: Int64(0), at: Timestamp(microsecondsSinceEpoch: 0))
        while true {
            let (id, at) = last
            let rows = try await attempt {
                Array(
                    try await self.reads.query(
                        SQL.rekeyEvidencePage(
                            owner, .int64(id), .instant(at), .int32(Self.rekeyRows),
                            .int64(Self.rekeyBytes))
                    ).rows)
            }
            guard let end = rows.last else { return }
            last = try await attempt { (try end.int64("purchase_id"), try end.instant("at")) }
            let seals = try await attempt {
                try await self.seals(of: rows, in: ["sealed_bodies"])
            }
            let sealer = try await sealer(for: rows.count)
            var page: [AnswersRow] = []
            for row in rows {
                do throws(CredentialRow.Failure) {
                    page.append(try AnswersRow(row, seals).rewritten(by: sealer))
                } catch {
                    report.add(unreadable: error.id, error.lack)
                }
            }
            report.answers += try await write(page.statement, sealer)
            try tell(report)
        }
    }

    /// - Returns: how many rows were written; none where the data key has just been retired.
    private func write(
        _ statement: PostgresStatement?, _ sealer: Sealer?
    ) async throws(LedgerError) -> Int64 {
        guard let statement else { return 0 }
        let fence = sealer.map { SQL.commitDataKey(.int32($0.number)) }
        do throws(PostgresError) {
            let results = try await retrying { () throws(PostgresError) in
                try await writes.pipeline([fence, statement].compactMap { $0 })
            }
            return Int64(results.last?.rows.count ?? 0)
        } catch .rejected(.noLongerValid, _, _) {
            vault.forgetCurrent()
            return 0
        } catch {
            throw LedgerError(error)
        }
    }

    /// Drops the data keys that nobody may encrypt with, if nothing that they have encrypted is
    /// left: nobody can copy any of it until this is committed.
    private func dropDataKeys() async throws -> Int64 {
        do {
            return try await writes.transaction { connection in
                let retired = try await connection.query(SQL.lockRetiredDataKeys()).rows.map {
                    try $0.int32("id")
                }
                guard !retired.isEmpty else { return 0 }
                return try await connection.query(SQL.dropDataKeys(.int32s(retired)))[0]
                    .int64("dropped")
            }
        } catch let error as PostgresError {
            throw LedgerError(error)
        }
    }

    /// Refuses to work where something is encrypted with a key that is not configured.
    package func requireKeys() async throws(LedgerError) {
        let missing = try await missingKeys()
        guard missing.isEmpty else {
            throw .keysMissing(names: missing.map { "key \($0)" })
        }
    }

    /// Keys that data keys of the database need and the configuration has not.
    package func missingKeys() async throws(LedgerError) -> [KeyID] {
        let cipher = vault.cipher
        return try await keysInUse().filter { cipher?.key($0) == nil }
    }

    /// The keys that data keys of the database are kept with, oldest first.
    package func keysInUse() async throws(LedgerError) -> [KeyID] {
        try await attempt {
            try await self.reads.query(SQL.dataKeyOwners()).rows.map { row in
                KeyID(bytes: try row.bytes("key_id"))
            }
        }
    }

    /// The keys of the configuration; nil where there is none.
    package var cipher: Cipher? { vault.cipher }
}

extension PostgresValue {
    fileprivate static func key(_ key: SealingKey?) -> PostgresValue {
        key.map { .bytes($0.id.bytes) } ?? .null
    }
}
