import Postgres
package import Renewal

/// A purchase whose rows hold what this program has no word for, or lack what may not be missing.
/// It is set aside by itself; its neighbours go on.
package struct UnreadablePurchase: Hashable, Sendable {
    package let id: Int64
    package let userID: UserID?
    /// Nil, like the product, where that is what cannot be read.
    package let app: AppKey?
    package let product: ProductID?
    /// The column that cannot be read.
    package let column: String
    let place: Place
    let lane: Int32
    /// The key that its token was encrypted with, which is not configured here: in words.
    package let missingKey: String?

    package var problem: Problem {
        if let missingKey {
            return Problem(
                .unsupported,
                "its token is encrypted with \(missingKey), which is not here: name the key in "
                    + "[encryption] keys")
        }
        if column == PostgresRow.sealedToken {
            return Problem(
                .setAside,
                "its row cannot be read (column sealed): it was \(Undecipherable.altered); it "
                    + Undecipherable.remedy)
        }
        return Problem(
            .setAside,
            "its row cannot be read (column \(column)): fix the row, then submit the purchase "
                + "again")
    }

    package init(
        id: Int64, of userID: UserID? = nil, app: AppKey? = nil, product: ProductID? = nil,
        column: String, place: Place, lane: Int32, missingKey: String? = nil
    ) {
        self.missingKey = missingKey
        self.id = id
        self.userID = userID
        self.app = app
        self.product = product
        self.column = column
        self.place = place
        self.lane = lane
    }
}

extension PostgresRow {
    /// The claim that the row holds.
    ///
    /// - Parameters:
    ///   - app: of the row; nil where the row names it.
    ///   - seals: the data keys of its rows.
    /// - Returns: what cannot be read as a failure.
    /// - Throws: where not even the keys can be read.
    func readableClaim(
        of app: AppKey?, _ seals: Seals
    ) throws(PostgresError) -> Result<Claim, UnreadablePurchase.Failure> {
        do throws(PostgresError) {
            if let app { return .success(try claim(of: app, seals)) }
            return .success(try claim(of: self.app(), seals))
        } catch {
            guard case .decoding(let column) = error else { throw error }
            let id = try int64("id")
            let purchase = UnreadablePurchase(
                id: id, of: try? UserID(text("user_id")), app: app ?? (try? self.app()),
                product: try? ProductID(text("product")), column: column,
                place: Place(shard: try int16("shard"), dueAt: try instant("due_at"), id: id),
                lane: try int32("lane"),
                missingKey: seals.lack(for: try optionalBytes(Self.sealedToken)))
            return .failure(UnreadablePurchase.Failure(purchase: purchase))
        }
    }
}

extension UnreadablePurchase {
    struct Failure: Error { let purchase: UnreadablePurchase }
}

extension PostgresLedger {
    /// The claims that can be read, and the purchases that cannot.
    func split(
        _ rows: some Sequence<PostgresRow>, of app: AppKey?
    ) async throws(PostgresError) -> (claims: [Claim], unreadable: [UnreadablePurchase]) {
        let seals = try await seals(of: rows, in: [PostgresRow.sealedToken])
        var claims: [Claim] = []
        var unreadable: [UnreadablePurchase] = []
        for row in rows {
            switch try row.readableClaim(of: app, seals) {
            case .success(let claim): claims.append(claim)
            case .failure(let failure): unreadable.append(failure.purchase)
            }
        }
        return (claims, unreadable)
    }

    /// Where only a key lacks, for a few minutes: it may be configured meanwhile, and a worker that
    /// has it may come first.
    ///
    /// - Returns: those that were set aside now; another worker has the others.
    func setAside(_ purchases: [UnreadablePurchase]) async throws -> [UnreadablePurchase] {
        guard !purchases.isEmpty else { return [] }
        let rows = try await reads.query(
            SQL.setAside([
                "shard": .int16s(purchases.map(\.place.shard)),
                "lane": .int32s(purchases.map(\.lane)),
                "due_at": .instants(purchases.map(\.place.dueAt)),
                "id": .int64s(purchases.map(\.id)),
                "problem": .texts(purchases.map(\.problem.description)),
                "for_a_while": .bools(purchases.map { $0.missingKey != nil }),
            ])
        ).rows
        let done = Set(try rows.map { try $0.int64("id") })
        return purchases.filter { done.contains($0.id) }
    }
}
