import Ledger
import Renewal

/// Where the four columns stand in what another system gives, and what a row of it says.
struct TheirColumns: Sendable {
    private let userID: Int
    private let entitlement: Int
    private let active: Int
    /// How many columns there are.
    let width: Int

    /// As `renewald.submit` takes them.
    private static let userLimitBytes = 1024
    private static let entitlementLimitBytes = 512

    /// - Parameter header: the names of the columns; other ones than ours do not matter.
    /// - Throws: that one is missing, or there twice.
    init(_ header: [String]) throws(ShadowStop) {
        let names = header.map { name in
            name.lowercased().filter { $0 != " " && $0 != "\u{feff}" }
        }
        func place(_ wanted: String) throws(ShadowStop) -> Int {
            let places = names.indices.filter { names[$0] == wanted }
            guard places.count < 2 else {
                throw .data("two columns have the name \(wanted)")
            }
            guard let place = places.first else {
                let there = names.isEmpty ? "none" : ImportColumns.listed(names)
                throw .data(
                    "the column \(wanted) is missing; there are \(there). They give user_id, "
                        + "entitlement, active and, if you like, expires_at: write … AS \(wanted)")
            }
            return place
        }
        userID = try place("user_id")
        entitlement = try place("entitlement")
        active = try place("active")
        width = header.count
    }

    /// - Parameters:
    ///   - number: of the row, for a person.
    ///   - what: such as `row` or `line`.
    ///   - value: of a column; nil is NULL.
    /// - Returns: what the row says.
    /// - Throws: what is wrong with it. It names the column, and never a user.
    func row(
        _ number: Int64, _ what: String, _ value: (Int) -> [UInt8]?
    ) throws(ShadowStop) -> TheirRow {
        func text(_ column: Int, _ name: String, _ limit: Int) throws(ShadowStop) -> String {
            let place = "\(what) \(number): \(name)"
            guard let bytes = value(column) else {
                throw .data("\(place) is NULL: leave such rows out, or give them a value")
            }
            guard !bytes.isEmpty else { throw .data("\(place) is empty") }
            guard bytes.count <= limit else {
                throw .data("\(place) has \(bytes.count) bytes, more than the \(limit) allowed")
            }
            guard !bytes.contains(0), let text = String(validating: bytes, as: UTF8.self) else {
                throw .data("\(place) is not UTF-8")
            }
            return text
        }
        let user = try text(userID, "user_id", Self.userLimitBytes)
        let entitlement = try text(self.entitlement, "entitlement", Self.entitlementLimitBytes)
        let word = try text(active, "active", Self.entitlementLimitBytes)
        guard let isActive = Self.truth(word) else {
            throw .data(
                "\(what) \(number): active is neither true nor false: it may be a boolean, "
                    + "0 or 1, or t, f, true, false, yes, no, on, off")
        }
        return TheirRow(
            number: number, userID: UserID(user), entitlement: EntitlementID(entitlement),
            isActive: isActive)
    }

    /// As PostgreSQL reads a boolean, and numbers as other databases print them.
    private static func truth(_ text: String) -> Bool? {
        switch text.lowercased().filter({ $0 != " " }) {
        case "t", "true", "y", "yes", "on", "1", "1.0", "\u{1}": true
        case "f", "false", "n", "no", "off", "0", "0.0", "\u{0}": false
        default: nil
        }
    }
}
