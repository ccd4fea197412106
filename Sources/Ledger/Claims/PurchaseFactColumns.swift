import Postgres
import Renewal

/// A column of `renewald.purchase` that holds a fact: its name, how it is read, how it is written.
///
/// `all` is the one list of them: every claim and book is read by it, every commit is written by
/// it, and the statements take their columns from it.
struct FactColumn: Sendable {
    typealias Read = @Sendable (PostgresRow, String, inout Facts) throws -> Void
    typealias Write = @Sendable ([Facts]) -> PostgresValue

    let name: String
    /// Of an element of the array that is sent.
    let type: String
    /// What that becomes where it is stored: an array within an array is sent as its text.
    let storedType: String?
    /// Nil where it is read together with others.
    let read: Read?
    let write: Write

    private init(
        _ name: String, _ type: String, as storedType: String? = nil, _ read: Read?,
        _ write: @escaping Write
    ) {
        self.name = name
        self.type = type
        self.storedType = storedType
        self.read = read
        self.write = write
    }

    static let all: [FactColumn] =
        named + states + times + [
            FactColumn("auto_renew", "bool", { $2.autoRenew = try $0.optionalBool($1) }) {
                .optionalBools($0.map(\.autoRenew))
            },
            FactColumn(
                "used_introductory", "bool", { $2.usedIntroductory = try $0.optionalBool($1) }
            ) { .optionalBools($0.map(\.usedIntroductory)) },
            FactColumn("renews_next", "bool", { $2.renewsNext = try $0.optionalBool($1) }) {
                .optionalBools($0.map(\.renewsNext))
            },
            FactColumn("baseline", "bool", { $2.isBaseline = try $0.bool($1) }) {
                .bools($0.map(\.isBaseline))
            },
        ] + lists

    private static let named: [FactColumn] = [
        FactColumn("product", "text", nil) { .texts($0.map(\.product)) },
        FactColumn("order_id", "text", { $2.orderID = try $0.optionalText($1) }) {
            .optionalTexts($0.map(\.orderID))
        },
        FactColumn("original_id", "text", { $2.originalID = try $0.optionalText($1) }) {
            .optionalTexts($0.map(\.originalID))
        },
        FactColumn("period", "text", { $2.period = try $0.optionalText($1) }) {
            .optionalTexts($0.map(\.period))
        },
        FactColumn("subscription_group", "text", { $2.group = try $0.optionalText($1) }) {
            .optionalTexts($0.map(\.group))
        },
        FactColumn("account_token", "text", { $2.accountToken = try $0.optionalText($1) }) {
            .optionalTexts($0.map(\.accountToken))
        },
    ]

    private static let states: [FactColumn] = [
        FactColumn("environment", "text", { $2.environment = try $0.optionalWord($1) }) {
            .optionalTexts($0.map(\.environment?.rawValue))
        },
        FactColumn("kind", "text", { $2.kind = try $0.optionalWord($1) }) {
            .optionalTexts($0.map(\.kind?.rawValue))
        },
        FactColumn("state", "text", nil) { .texts($0.map(\.state.rawValue)) },
        FactColumn("access", "text", nil) { .texts($0.map(\.access.rawValue)) },
        FactColumn("phase", "text", { $2.phase = try $0.optionalWord($1) }) {
            .optionalTexts($0.map(\.phase?.rawValue))
        },
        FactColumn("lapse", "text", nil) { .optionalTexts($0.map(\.lossReason?.rawValue)) },
        // A word of a later program is left out.
        FactColumn(
            "gain", "text",
            {
                let name: String? = try $0.optionalText($1)
                $2.gainReason = name.flatMap(GrantReason.init(rawValue:))
            }
        ) { .optionalTexts($0.map(\.gainReason?.rawValue)) },
        FactColumn("ownership", "text", { $2.ownership = try $0.optionalWord($1) }) {
            .optionalTexts($0.map(\.ownership?.rawValue))
        },
        FactColumn("doubt", "text", { $2.doubt = try $0.doubt() }) {
            .optionalTexts($0.map(\.doubt?.doubt.rawValue))
        },
        FactColumn("doubt_since", "timestamptz", nil) {
            .optionalInstants($0.map(\.doubt?.since))
        },
    ]

    private static let times: [FactColumn] = [
        FactColumn("paid_through", "timestamptz", { $2.paidThrough = try $0.optionalInstant($1) }) {
            .optionalInstants($0.map(\.paidThrough))
        },
        FactColumn("expires_at", "timestamptz", { $2.expiresAt = try $0.optionalInstant($1) }) {
            .optionalInstants($0.map(\.expiresAt))
        },
        FactColumn(
            "commitment_ends_at", "timestamptz",
            { $2.commitmentEndsAt = try $0.optionalInstant($1) }
        ) { .optionalInstants($0.map(\.commitmentEndsAt)) },
        FactColumn("held_at", "timestamptz", { $2.heldSince = try $0.optionalInstant($1) }) {
            .optionalInstants($0.map(\.heldSince))
        },
        FactColumn("stated_at", "timestamptz", { $2.statedAt = try $0.optionalInstant($1) }) {
            .optionalInstants($0.map(\.statedAt))
        },
    ]

    private static let lists: [FactColumn] = [
        // Words of a later program are left out.
        FactColumn(
            "signals", "text", as: "text[]",
            { $2.signals = Set(try $0.texts($1).compactMap(Signal.init(rawValue:))) }
        ) { .texts($0.map { arrayLiteral($0.signals.map(\.rawValue).sorted()) }) },
        FactColumn("holding_entitlements", "text", as: "text[]", nil) {
            .texts($0.map { arrayLiteral($0.holdings.map(\.entitlement)) })
        },
        FactColumn("holding_products", "text", as: "text[]", nil) {
            .texts($0.map { arrayLiteral($0.holdings.map(\.product)) })
        },
        FactColumn("holding_ends", "text", as: "int8[]", nil) {
            .texts(
                $0.map { arrayLiteral($0.holdings.map(\.expiresAt?.microsecondsSinceEpoch)) })
        },
    ]
}

// MARK: - What statements take from the list

extension FactColumn {
    /// Of a select that has the table under its own name.
    static let selected = all.map { "purchase.\($0.name)" }.joined(separator: ", ")

    /// Of the rows of a commit.
    static let declared = all.map { "\($0.name) \($0.type)" }.joined(separator: ", ")

    /// From those rows, named `fact`, as they are stored.
    static let converted = all.map { column in
        "fact.\(column.name)" + (column.storedType.map { "::\($0) AS \(column.name)" } ?? "")
    }.joined(separator: ", ")

    /// From those.
    static let assigned = all.map { "\($0.name) = fact.\($0.name)" }.joined(separator: ", ")

    static func values(of facts: [Facts]) -> [(key: String, value: PostgresValue)] {
        all.map { ($0.name, $0.write(facts)) }
    }
}

extension PostgresRow {
    func facts() throws(PostgresError) -> Facts {
        var facts = Facts(
            storedProduct: try text("product"), state: try word("state"),
            access: try word("access"), lossReason: try optionalWord("lapse"),
            holdings: try holdings())
        for column in FactColumn.all {
            do {
                try column.read?(self, column.name, &facts)
            } catch {
                throw error as? PostgresError ?? .decoding(column: column.name)
            }
        }
        return facts
    }

    fileprivate func doubt() throws(PostgresError) -> PendingDoubt? {
        guard let doubt: Doubt = try optionalWord("doubt") else { return nil }
        return PendingDoubt(doubt: doubt, since: try instant("doubt_since"))
    }

    fileprivate func holdings() throws(PostgresError) -> [Holding] {
        let entitlements: [EntitlementID] = try texts("holding_entitlements")
        guard !entitlements.isEmpty else { return [] }
        let products: [ProductID] = try texts("holding_products")
        let ends = try optionalInt64s("holding_ends")
        guard products.count == entitlements.count, ends.count == entitlements.count else {
            throw .decoding(column: "holding_ends")
        }
        return entitlements.indices.map { index in
            Holding(
                entitlement: entitlements[index], product: products[index],
                expiresAt: ends[index].map(Timestamp.init(microsecondsSinceEpoch:)))
        }
    }
}
