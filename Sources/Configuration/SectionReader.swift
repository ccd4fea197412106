import Renewal

/// Reads one table by its description: keeps what is in order, collects faults, never stops at the
/// first.
///
/// After a fault the value handed out is the default or nothing; the configuration is thrown away.
struct SectionReader {
    private let section: ConfigurationSection
    private let file: String
    private let path: TOMLLines.Path
    private let lines: TOMLLines
    private let written: Set<String>
    private var fields: [String: TOMLNode] = [:]
    private(set) var faults: [ConfigurationFault] = []

    /// Checks the given fields. The path is the section's, with the index where the table repeats;
    /// only the keys that count may be missed.
    init(
        _ section: ConfigurationSection, fields: [String: TOMLNode], path: TOMLLines.Path,
        lines: TOMLLines, file: String, requiring counts: (String) -> Bool = { _ in true }
    ) {
        self.section = section
        self.file = file
        self.path = path
        self.lines = lines
        written = Set(fields.keys)
        for name in fields.keys.sorted() where section.key(name) == nil {
            fault(name, Nearest.sentence(forKey: name, in: section))
        }
        for key in section.keys {
            if let node = fields[key.name] {
                if let flaw = key.form.flaw(of: node) {
                    fault(key.name, flaw)
                } else {
                    self.fields[key.name] = node
                }
            } else if case .required(let example) = key.presence, counts(key.name) {
                faultMissing(key.name, example)
            }
        }
    }

    func place(_ name: String) -> ConfigurationPlace {
        ConfigurationPlace(
            file: file, line: lines.line(of: path + [name]), key: "\(section.name).\(name)")
    }

    func isWritten(_ name: String) -> Bool { written.contains(name) }

    func isInOrder(_ name: String) -> Bool { fields[name] != nil }

    /// What was written and is in order.
    func values<Keys: KeyGroup>(_: Keys.Type = Keys.self) -> TableValues<Keys> {
        let places = fields.keys.map { ($0, place($0)) }
        return TableValues(fields, places: Dictionary(places) { first, _ in first })
    }

    mutating func fault(_ name: String, _ sentence: String) {
        faults.append(place(name).fault(sentence))
    }

    /// For a key that is optional by itself, but not beside others.
    mutating func faultMissing(_ name: String) {
        guard case .optional(_, let example)? = section.key(name)?.presence else { return }
        faultMissing(name, example)
    }

    private mutating func faultMissing(_ name: String, _ example: ConfigurationKey.Literal) {
        fault(name, "is required, such as \(name) = \(example.node.literal)")
    }
}
