package import Renewal

/// Finds the known name that an unknown one was probably meant to be.
package enum Nearest {
    /// For a key that its table does not know: the nearest of the table, or of another table when
    /// that is nearer still.
    static func sentence(forKey name: String, in section: ConfigurationSection) -> String {
        let siblings = ConfigurationSection.all.filter { $0.name == section.name }
        let stores = siblings.filter { $0.key(name) != nil }.compactMap(\.store?.rawValue)
        if let own = section.store, !stores.isEmpty {
            return "is for an app of \(stores.joined(separator: " or ")), not of \(own.rawValue)"
        }
        var candidates: [(text: String, distance: Int)] = []
        for known in ConfigurationSection.all {
            // A slip of the finger in the right table is likelier than the wrong table.
            let penalty = known.name == section.name ? 0 : 2
            for key in known.keys {
                let distance = distance(name, key.name) + penalty
                candidates.append(("\(known.name).\(key.name)", distance))
            }
        }
        return "is not known" + suggestion(candidates)
    }

    /// For a table, or a key that is in no table.
    static func sentence(forTable name: String, isTable: Bool) -> String {
        let penalty = isTable ? 3 : 1
        var candidates: [(text: String, distance: Int)] = []
        for known in ConfigurationSection.all {
            candidates.append((known.header, distance(name, known.name)))
            for key in known.keys {
                candidates.append(("\(known.name).\(key.name)", distance(name, key.name) + penalty))
            }
        }
        return "is not known" + suggestion(candidates)
    }

    /// The nearest of some words; nil when there are none.
    package static func word(to name: String, among words: [String]) -> String? {
        words.min { distance(name, $0) < distance(name, $1) }
    }

    /// For an app that is not configured: the one that was probably meant.
    package static func app(_ unknown: AppKey, among known: [AppKey]) -> AppKey? {
        // Another store is a likelier slip than another name.
        let candidates = known.map { app in
            (app, distance(unknown.id.text, app.id.text) + (app.store == unknown.store ? 0 : 1))
        }
        return candidates.min { $0.1 < $1.1 }?.0
    }

    private static func suggestion(_ candidates: [(text: String, distance: Int)]) -> String {
        guard let nearest = candidates.min(by: { $0.distance < $1.distance }) else { return "" }
        return "; the nearest known one is \(nearest.text)"
    }

    /// Levenshtein's: how many letters must be put in, taken out or changed.
    static func distance(_ left: String, _ right: String) -> Int {
        let left = Array(left.unicodeScalars.prefix(100))
        let right = Array(right.unicodeScalars)
        var row = Array(0...right.count)
        for (index, letter) in left.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for column in right.indices {
                let change = diagonal + (letter == right[column] ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(change, min(row[column], diagonal) + 1)
            }
        }
        return row.last ?? left.count
    }
}
