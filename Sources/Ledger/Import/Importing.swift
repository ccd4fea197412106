import Postgres
package import Renewal

/// Purchases of a file, side by side, as they stand there.
package struct ImportBatch: Hashable, Sendable {
    package private(set) var userIDs: [String?] = []
    package private(set) var stores: [String?] = []
    package private(set) var appIDs: [String?] = []
    package private(set) var products: [String?] = []
    package private(set) var tokens: [String?] = []
    package private(set) var storeUserIDs: [String?] = []

    package init() {}

    package var count: Int { tokens.count }

    /// Those that are named.
    package var apps: Set<AppKey> {
        Set(
            zip(stores, appIDs).compactMap { store, app in
                guard let store = store.flatMap(Store.init), let app else { return nil }
                return AppKey(store: store, id: AppID(app))
            })
    }

    package mutating func add(
        userID: UserID?, store: String?, app: AppID?, product: ProductID?, token: StoreToken?,
        storeUserID: StoreUserID?
    ) {
        userIDs.append(userID?.text)
        stores.append(store)
        appIDs.append(app?.text)
        products.append(product?.text)
        tokens.append(token?.text)
        storeUserIDs.append(storeUserID?.text)
    }

    fileprivate var columns: [PostgresValue] {
        [userIDs, stores, appIDs, products, tokens, storeUserIDs].map(PostgresValue.optionalTexts)
    }
}

/// What became of a batch.
package struct TakenBatch: Hashable, Sendable {
    package let submitted: Int64
    package let known: Int64
    /// By the place in the batch, from 0 on, in their order.
    package let faults: [Fault]

    package struct Fault: Hashable, Sendable {
        package let index: Int
        package let reason: String

        package init(index: Int, reason: String) {
            self.index = index
            self.reason = reason
        }
    }

    package init(submitted: Int64, known: Int64, faults: [Fault]) {
        self.submitted = submitted
        self.known = known
        self.faults = faults
    }
}

/// What would become of one purchase of a batch.
package struct ImportPreview: Hashable, Sendable {
    package let fault: String?
    package let isKnown: Bool
    /// The same for the same purchase.
    package let key: Int64
}

/// How far a file was imported.
package struct ImportPlace: Hashable, Sendable {
    /// How it was read: a file is not gone on with in another way.
    package let reading: String
    /// Of the next line.
    package var byte: Int64 = 0
    package var line = 1
    package var submitted: Int64 = 0
    package var known: Int64 = 0
    package var bad: Int64 = 0
    /// Bytes of the file of bad lines.
    package var rejected: Int64 = 0

    package init(reading: String) { self.reading = reading }
}

/// Where the lines of a batch come from.
package struct ImportSource: Hashable, Sendable {
    /// SHA-256 of the file.
    package let digest: [UInt8]
    /// Of the first line, and what was counted before it.
    package let place: ImportPlace

    package init(digest: [UInt8], place: ImportPlace) {
        self.digest = digest
        self.place = place
    }
}

/// Somebody else imports the same file: it was read further, or begun anew, meanwhile.
package struct ImportOvertaken: Error, Hashable, Sendable {
    package init() {}
}

extension PostgresLedger {
    /// How far a file was imported; nil where it never was.
    package func importPlace(
        of digest: [UInt8]
    ) async throws(LedgerError) -> ImportPlace? {
        try await attempt {
            try await self.writes.query(SQL.importPlace(.bytes(digest))).rows.first.map {
                try ImportPlace($0)
            }
        }
    }

    /// The file is imported from its beginning, whatever was imported of it before.
    package func beginImport(
        of digest: [UInt8], reading: String
    ) async throws(LedgerError) {
        _ = try await attempt {
            try await self.writes.query(SQL.importBegin(.bytes(digest), .text(reading)))
        }
    }

    /// Takes purchases of a file in, and notes how far it was read, in one transaction.
    ///
    /// - Parameters:
    ///   - batch: the purchases.
    ///   - isBaseline: what their first sight finds is not told.
    ///   - source: where they come from; nil of what cannot be gone on with.
    ///   - note: makes the place from what became of the batch, before the commit. It is asked
    ///     again where another transaction was in the way.
    /// - Returns: what became of the batch, and the place that was noted.
    /// - Throws: `LedgerError`, `ImportOvertaken` before `note` is asked, and what `note` throws:
    ///   nothing was taken in then.
    package func takeIn(
        _ batch: ImportBatch, isBaseline: Bool, from source: ImportSource?,
        note: @escaping @Sendable (TakenBatch) throws -> ImportPlace
    ) async throws -> (TakenBatch, ImportPlace) {
        var attempts = 0
        while true {
            do {
                return try await writes.transaction { connection in
                    if let source {
                        let rows = try await connection.query(
                            SQL.importPlace(.bytes(source.digest))
                        ).rows
                        guard try rows.first.map({ try ImportPlace($0) }) == source.place else {
                            throw ImportOvertaken()
                        }
                    }
                    let row = try await connection.query(
                        SQL.importBatch.with(batch.columns + [.bool(isBaseline)]))[0]
                    let reasons: [String] = try row.texts("faults")
                    let taken = TakenBatch(
                        submitted: try row.int64("submitted"), known: try row.int64("known"),
                        faults: zip(try row.int64s("bad"), reasons).map { number, reason in
                            TakenBatch.Fault(index: Int(number) - 1, reason: reason)
                        })
                    let place = try note(taken)
                    if let source {
                        try await connection.query(place.statement(of: source.digest))
                    }
                    return (taken, place)
                }
            } catch PostgresError.conflict(let state) {
                attempts += 1
                guard attempts < Self.importAttempts else {
                    throw LedgerError(PostgresError.conflict(sqlState: state))
                }
            } catch let error as PostgresError {
                throw LedgerError(error)
            }
        }
    }

    private static let importAttempts = 5

    /// What would become of purchases of a file, in their order. Writes nothing.
    package func preview(
        _ batch: ImportBatch
    ) async throws(LedgerError) -> [ImportPreview] {
        try await attempt {
            try await self.reads.query(SQL.importPreview.with(batch.columns)).rows.map { row in
                ImportPreview(
                    fault: try row.optionalText("fault"), isKnown: try row.bool("is_known"),
                    key: try row.int64("key"))
            }
        }
    }
}

extension ImportPlace {
    fileprivate init(_ row: PostgresRow) throws(PostgresError) {
        reading = try row.text("reading")
        byte = try row.int64("place")
        line = Int(try row.int64("line"))
        submitted = try row.int64("submitted")
        known = try row.int64("known")
        bad = try row.int64("bad")
        rejected = try row.int64("rejected")
    }

    fileprivate func statement(of digest: [UInt8]) -> PostgresStatement {
        SQL.importNote(
            .bytes(digest), .int64(byte), .int64(Int64(line)), .int64(submitted), .int64(known),
            .int64(bad), .int64(rejected))
    }
}
