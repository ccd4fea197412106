import FoundationEssentials

/// The fields of a line, by the columns of its file.
struct ImportLine {
    let columns: ImportColumns
    /// Of CSV: where each field stands; nil of JSON lines.
    var places: [ImportField: [Int]]?
    /// Of CSV: how many columns there are.
    var width = 0

    /// - Throws: why a line has no purchase.
    func purchase(
        _ content: FileLine.Content, _ bytes: [UInt8]
    ) throws(ImportFault) -> ImportedPurchase {
        switch content {
        case .fields(let fields): try row(fields)
        case .json: try object(bytes)
        case .fault(let reason): throw ImportFault(reason)
        case .more: throw ImportFault("it is too long")
        }
    }

    private func row(_ fields: [[UInt8]]) throws(ImportFault) -> ImportedPurchase {
        guard fields.count == width else {
            throw ImportFault(
                "it has \(fields.count) \(fields.count == 1 ? "field" : "fields"), and the "
                    + "header has \(width)")
        }
        var values: [ImportField: [String]] = [:]
        for (field, places) in places ?? [:] {
            for place in places {
                values[field, default: []].append(try Self.text(fields[place], field))
            }
        }
        return try columns.purchase { values[$0] ?? [] }
    }

    private static func text(
        _ bytes: [UInt8], _ field: ImportField
    ) throws(ImportFault) -> String {
        guard !bytes.contains(0) else { throw ImportFault("\(field.rawValue) has a NUL") }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw ImportFault("\(field.rawValue) is not UTF-8")
        }
        return text
    }

    private func object(_ bytes: [UInt8]) throws(ImportFault) -> ImportedPurchase {
        guard String(validating: bytes, as: UTF8.self) != nil else {
            throw ImportFault("it is not UTF-8")
        }
        let members: [String: JSONText]
        do {
            members = try JSONDecoder().decode([String: JSONText].self, from: Data(bytes))
        } catch {
            throw ImportFault("it is no JSON object")
        }
        var byName: [String: JSONText] = [:]
        for (name, text) in members {
            let name = name.lowercased()
            guard byName.updateValue(text, forKey: name) == nil || !columns.reads(name) else {
                throw ImportFault("two members have the name \(name)")
            }
        }
        var values: [ImportField: [String]] = [:]
        for (field, names) in columns.names where columns.constants[field] == nil {
            for case .some(let member) in names.map({ byName[$0.lowercased()] }) {
                switch member {
                case .none: continue
                case .text(let text): values[field, default: []].append(text)
                case .number(let text) where field == .userID:
                    values[field, default: []].append(text)
                case .number, .other: throw ImportFault("\(field.rawValue) is no text")
                }
            }
            if values[field]?.contains(where: { $0.utf8.contains(0) }) == true {
                throw ImportFault("\(field.rawValue) has a NUL")
            }
        }
        return try columns.purchase { values[$0] ?? [] }
    }
}

/// A member of a JSON line, of which only text is of use.
private enum JSONText: Decodable {
    case none
    case text(String)
    case number(String)
    case other

    init(from decoder: any Decoder) throws {
        guard let value = try? decoder.singleValueContainer() else {
            self = .other
            return
        }
        if value.decodeNil() {
            self = .none
        } else if let text = try? value.decode(String.self) {
            self = .text(text)
        } else if let number = try? value.decode(Int64.self) {
            self = .number(String(number))
        } else {
            self = .other
        }
    }
}
