/// What `renewald.submit` takes, by the names of its arguments.
package enum ImportField: String, Hashable, Sendable, CaseIterable {
    case userID = "user_id"
    case store, app, product, token
    case storeUserID = "store_user_id"
}

/// Where the fields of a purchase are found in a file of somebody else: under which names, what is
/// the same in all lines, and what a preset makes of it.
package struct ImportColumns: Hashable, Sendable {
    /// Names of columns, the best first: the first that is not empty counts.
    package private(set) var names: [ImportField: [String]]
    /// What no column has.
    package private(set) var constants: [ImportField: String] = [:]
    package let preset: ImportPreset?
    /// The only app of each store in the configuration: for lines that name none.
    package var apps: [String: String] = [:]
    /// The store of the only app in the configuration.
    package var onlyStore: String?

    /// Without a preset the columns have the names of the fields.
    package init(_ preset: ImportPreset? = nil) {
        self.preset = preset
        names = Dictionary(
            uniqueKeysWithValues: ImportField.allCases.map { field in
                (field, (preset?.columns[field] ?? []) + [field.rawValue])
            })
    }

    /// A token that a column of one's own does not have is the preset's: a feed of several stores
    /// has those of Google beside it, and no others.
    package mutating func name(_ field: ImportField, _ column: String) {
        names[field] = [column] + (field == .token ? preset?.columns[field] ?? [] : [])
    }

    package mutating func set(_ field: ImportField, to value: String) {
        constants[field] = value
    }

    /// Whether a column of that name, in lower case, holds anything that is wanted.
    func reads(_ name: String) -> Bool {
        names.values.contains { $0.contains { $0.lowercased() == name } }
    }

    /// A file that was begun with one is not gone on with by another.
    package var text: String {
        let columns = ImportField.allCases.map { field in
            let column = (names[field] ?? []).joined(separator: "|")
            return "\(field.rawValue)=\(constants[field].map { ":" + $0 } ?? column)"
        }
        return columns.joined(separator: ",") + (preset.map { " \($0.rawValue)" } ?? "")
    }

    /// Which of the columns hold each field, as places in the header.
    ///
    /// - Throws: that one is missing, or there twice.
    package func places(
        in header: [String]
    ) throws(ImportFault) -> [ImportField: [Int]] {
        let known = header.map(Self.plain)
        var places: [ImportField: [Int]] = [:]
        for field in ImportField.allCases where constants[field] == nil {
            let wanted = (names[field] ?? []).map(Self.plain)
            for name in wanted where known.count(where: { $0 == name }) > 1 {
                throw ImportFault("two columns have the name \(name)")
            }
            places[field] = wanted.compactMap { known.firstIndex(of: $0) }
            guard places[field]?.isEmpty == true, !isOptional(field) else { continue }
            throw ImportFault(
                "there is no column \(wanted.joined(separator: " or ")); there are "
                    + Self.listed(known)
                    + ". Name the one that holds it with --map \(field.rawValue)=COLUMN")
        }
        return places
    }

    private func isOptional(_ field: ImportField) -> Bool {
        switch field {
        case .storeUserID: true
        case .app: !apps.isEmpty
        case .store: onlyStore != nil || preset == .osmand
        case .userID, .product, .token: false
        }
    }

    /// The names of columns for a person: the first of many, and the beginning of what is long.
    static func listed(_ names: [String]) -> String {
        let most = 20
        let shown = names.prefix(most).map { name in
            name.count > 40 ? "\(name.prefix(40))…" : name
        }
        let more = names.count - shown.count
        return shown.joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
    }

    private static func plain(_ name: String) -> String {
        var name = name[...]
        while name.first == " " { name.removeFirst() }
        while name.last == " " { name.removeLast() }
        return name.lowercased()
    }

    /// A purchase of what a line has, by the names of its columns.
    ///
    /// - Throws: why there is none.
    package func purchase(
        _ value: (ImportField) -> [String]
    ) throws(ImportFault) -> ImportedPurchase {
        var purchase = ImportedPurchase()
        for field in ImportField.allCases {
            let found = constants[field].map { [$0] } ?? value(field)
            purchase[field] = found.first { !$0.isEmpty }
            if preset == .revenuecat, field == .userID, constants[field] == nil {
                purchase[field] = ImportPreset.known(found)
            }
        }
        if let preset { try preset.translate(&purchase) }
        purchase.store = purchase.store ?? onlyStore
        purchase.app = purchase.app ?? purchase.store.flatMap { apps[$0] }
        return purchase
    }
}

/// A purchase as a line has it: nothing of it is checked yet.
package struct ImportedPurchase: Hashable, Sendable {
    package var userID: String?
    package var store: String?
    package var app: String?
    package var product: String?
    package var token: String?
    package var storeUserID: String?

    package init() {}

    package subscript(field: ImportField) -> String? {
        get {
            switch field {
            case .userID: userID
            case .store: store
            case .app: app
            case .product: product
            case .token: token
            case .storeUserID: storeUserID
            }
        }
        set {
            switch field {
            case .userID: userID = newValue
            case .store: store = newValue
            case .app: app = newValue
            case .product: product = newValue
            case .token: token = newValue
            case .storeUserID: storeUserID = newValue
            }
        }
    }
}

/// Why a line, or a file, cannot be taken in. Names no value.
package struct ImportFault: Error, Hashable, Sendable {
    package let reason: String

    package init(_ reason: String) { self.reason = reason }
}
