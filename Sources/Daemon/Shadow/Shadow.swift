package import Explain
package import Ledger
package import Renewal
import Sockets

/// `renewald shadow`: what another system believes, beside what is held here (design section 10).
/// Writes nothing but its own notes of differences.
package struct Shadow: Sendable {
    package struct Options: Sendable {
        package var source: Source
        /// How old a difference is that counts.
        package var settle = Duration.zero
        /// Which other system it is: its differences are kept apart from those of others.
        package var system = "theirs"
        /// The entitlements that are compared; empty is all.
        package var only: [EntitlementID] = []

        package init(_ source: Source) { self.source = source }
    }

    /// Where they say what they believe.
    package enum Source: Sendable {
        /// `conninfo` nil is renewald's own database.
        case query(String, conninfo: String?, within: Duration)
        /// CSV; `-` is standard input.
        case file(String)
    }

    private let ledger: PostgresLedger
    private let database: String
    private let catalog: Catalog
    private let options: Options
    private let tell: @Sendable (ShadowLine) throws -> Void

    /// Differences that are looked into at once: what takes memory.
    private static let pageLimit = 500
    /// Runs that are drawn.
    private static let historyLimit = 400

    /// - Parameters:
    ///   - ledger: what is held here.
    ///   - database: its connection string: the work needs connections of its own.
    ///   - catalog: which product gives what.
    ///   - options: what is compared.
    ///   - tell: hears each difference.
    package init(
        _ ledger: PostgresLedger, database: String, catalog: Catalog, _ options: Options,
        tell: @escaping @Sendable (ShadowLine) throws -> Void
    ) {
        self.ledger = ledger
        self.database = database
        self.catalog = catalog
        self.options = options
        self.tell = tell
    }

    /// Reads, compares, looks for causes and notes them, in one transaction.
    ///
    /// - Returns: what there is to say.
    /// - Throws: `ShadowStop` for what is theirs, `LedgerError` for what is ours, and what `tell`
    ///   throws. Nothing is noted then.
    package func run() async throws -> ShadowReport {
        let place = ShadowPlace(database, patience: patience)
        let (shadow, options) = (self, self.options)
        return try await place.run(about: options.system, only: options.only) { run in
            try await shadow.read(into: run)
            let counts = try await run.compare()
            if let example = counts.example {
                throw ShadowStop.data(
                    "\(counts.contradictory) duplicates contradict each other: they name a user "
                        + "and an entitlement in several rows, active in one and not in another "
                        + "(\(shadow.rowWord) \(example)). Give one row each, such as "
                        + "bool_or(active) … GROUP BY user_id, entitlement")
            }
            try await shadow.requireKnown(run, counts)
            try await shadow.decide(run, counts)
            var counted = ShadowRun(at: run.at)
            let tallies = try await run.tally(settle: options.settle)
            counted.compared = counts.compared
            counted.agree = counts.agree
            counted.theyGrant = tallies.lazy.filter { $0.who == .theyGrant }.map(\.count)
                .reduce(0, +)
            counted.weGrant = tallies.lazy.filter { $0.who == .weGrant }.map(\.count)
                .reduce(0, +)
            counted.unsettled =
                counts.compared - counts.agree - counted.theyGrant - counted.weGrant
            counted.healed = try await run.heal()
            try await run.end(counted)
            return ShadowReport(
                counted, tallies, doubled: counts.doubled, system: options.system,
                history: try await run.history(limit: Self.historyLimit))
        }
    }

    /// A slip of the fingers would compare nobody, and find no difference.
    private func requireKnown(_ run: Shadowing, _ counts: ShadowCounts) async throws {
        let given = catalog.products.values.flatMap(\.entitlements)
        let strange = options.only.filter { !counts.known.contains($0) && !given.contains($0) }
        guard !strange.isEmpty, !counts.knowsMore else { return }
        let held = try await run.known()
        guard let unknown = strange.first(where: { !held.contains($0) }) else { return }
        let all = Set(given).union(held).union(counts.known).sorted()
        throw ShadowStop.usage(
            "--entitlement: nobody has one that is called \"\(unknown)\", here or there, and no "
                + "product gives it; "
                + (all.isEmpty
                    ? "none is known yet" : "known are \(all.map(\.text).joined(separator: ", "))"))
    }

    private var patience: Duration {
        switch options.source {
        case .query(_, _, let limit): limit
        case .file: .zero
        }
    }

    private var rowWord: String {
        switch options.source {
        case .query: "row"
        case .file: "line"
        }
    }

    // MARK: Reading

    private func read(into run: Shadowing) async throws {
        switch options.source {
        case .file(let path):
            do {
                let input = try InputBytes(path)
                defer { input.close() }
                var file = try TheirFile(input)
                while case let rows = try file.next(), !rows.isEmpty {
                    try await run.take(rows)
                    try Task.checkCancellation()
                }
            } catch let failure as ReadFailure {
                throw ShadowStop.unreadable(failure.reason)
            }
        case .query(let sql, let conninfo, let limit):
            let query = TheirQuery(
                conninfo ?? database, sql, within: limit)
            let reading = Reading()
            do {
                try await query.read { page in try await reading.take(page, into: run) }
            } catch let error as TheirError {
                throw ShadowStop(error, isOwn: conninfo == nil)
            }
        }
    }

    /// What is known of the rows so far.
    private actor Reading {
        private var columns: TheirColumns?
        private var number: Int64 = 0

        func take(_ page: TheirQuery.Page, into run: Shadowing) async throws {
            let columns = try self.columns ?? TheirColumns(page.columns)
            self.columns = columns
            var rows: [TheirRow] = []
            rows.reserveCapacity(page.count)
            for index in 0..<page.count {
                number += 1
                rows.append(try columns.row(number, "row") { page.value(index, $0) })
            }
            try await run.take(rows)
        }
    }

    // MARK: Causes

    private func decide(_ run: Shadowing, _ counts: ShadowCounts) async throws {
        let settle = options.settle
        var last: Int64 = 0
        while case let findings = try await run.findings(after: last, limit: Self.pageLimit),
            let latest = findings.last
        {
            last = latest.id
            let users = Dictionary(
                findings.map { ($0.userID, $0.shard) }, uniquingKeysWith: { first, _ in first })
            let kept = try await ledger.kept(of: users.map { ($0.value, $0.key) })
            let purchases = Dictionary(grouping: kept.purchases, by: \.claim.purchase.userID)
            // What they believe may hang on what is another's here.
            let claimed = try await ledger.kept(
                claimedBy: Set(findings.filter { $0.who == .theyGrant }.map(\.userID)).sorted())
            let decided = findings.map { finding in
                let difference = ShadowCase(
                    finding, purchases[finding.userID] ?? [], claimed[finding.userID] ?? [],
                    isKnownToThem: counts.known.isEmpty || counts.knowsMore
                        || counts.known.contains(finding.entitlement))
                return (
                    finding: finding, cause: difference.cause(under: catalog),
                    since: difference.since(under: catalog, told: finding.toldAt, at: run.at)
                )
            }
            try await run.decide(decided)
            for (finding, cause, since) in decided {
                try tell(
                    ShadowLine(
                        finding, cause, since: since,
                        isSettled: max(run.at - finding.firstSeenAt, .zero) >= settle))
            }
            try Task.checkCancellation()
        }
    }
}

extension ShadowCase {
    fileprivate init(
        _ finding: ShadowFinding, _ purchases: [KeptPurchase], _ claimed: [KeptPurchase],
        isKnownToThem: Bool
    ) {
        func evidence(_ kept: KeptPurchase) -> Evidence {
            let purchase = kept.claim.purchase
            return Evidence(
                id: purchase.id, createdAt: purchase.createdAt, facts: purchase.facts,
                heard: kept.heard, wasMovedUnpaid: finding.moved.contains(purchase.id))
        }
        self.init(
            finding.entitlement, finding.who, purchases: purchases.map(evidence),
            claimed: claimed.map(evidence), lastHeldBy: finding.lastHeldBy,
            lastProduct: finding.lastProduct, isKnownToThem: isKnownToThem)
    }
}
