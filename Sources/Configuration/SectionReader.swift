import Renewal

/// Reads one table by its description: takes defaults, collects faults, never stops at the first.
///
/// After a fault the value handed out is the default or nothing; the configuration is thrown away.
struct SectionReader {
    let section: ConfigurationSection
    private let file: String
    private let path: TOMLLines.Path
    private let lines: TOMLLines
    private let fields: [String: TOMLNode]
    private(set) var faults: [ConfigurationFault] = []

    /// Reads the given fields. The path is the section's, with the index where the table repeats.
    init(
        _ section: ConfigurationSection, fields: [String: TOMLNode], path: TOMLLines.Path,
        lines: TOMLLines, file: String
    ) {
        self.section = section
        self.file = file
        self.path = path
        self.lines = lines
        self.fields = fields
        for name in fields.keys.sorted() where section.key(name) == nil {
            fault(name, Nearest.sentence(forKey: name, in: section))
        }
    }

    func place(_ name: String) -> ConfigurationPlace {
        ConfigurationPlace(
            file: file, line: lines.line(of: path + [name]), key: "\(section.name).\(name)")
    }

    func isWritten(_ name: String) -> Bool { fields[name] != nil }

    mutating func fault(_ name: String, _ sentence: String) {
        faults.append(place(name).fault(sentence))
    }

    /// For a key that is optional by itself, but not beside others.
    mutating func faultMissing(_ name: String) {
        guard case .optional(_, let example)? = section.key(name)?.presence else { return }
        fault(name, "is required, such as \(name) = \(example.node.literal)")
    }

    // MARK: Values

    /// Looks for faults alone.
    mutating func check(_ name: String) { _ = value(name) }

    mutating func text(_ name: String) -> String {
        string(name) ?? ""
    }

    mutating func choice<Value: RawRepresentable<String> & CaseIterable>(
        _ name: String, _ type: Value.Type = Value.self
    ) -> Value? {
        string(name).flatMap(Value.init(rawValue:))
    }

    mutating func isOn(_ name: String) -> Bool { string(name) == "on" }

    mutating func boolean(_ name: String) -> Bool {
        guard case .boolean(let value)? = value(name) else { return false }
        return value
    }

    mutating func integer(_ name: String) -> Int {
        guard case .integer(let value)? = value(name) else { return 0 }
        return value
    }

    mutating func number(_ name: String) -> Double {
        switch value(name) {
        case .integer(let value)?: Double(value)
        case .number(let value)?: value
        default: 0
        }
    }

    /// - Returns: nil for an optional one that is not written.
    mutating func duration(_ name: String) -> Duration? {
        string(name).flatMap { try? ISODuration.parse($0) }
    }

    /// An origin or address, without a slash at the end of an origin.
    mutating func url(_ name: String) -> String {
        guard let text = string(name) else { return "" }
        return section.key(name)?.form == .origin && text.hasSuffix("/")
            ? String(text.dropLast()) : text
    }

    mutating func secret(_ name: String) -> SecretSource? {
        guard let text = string(name), let form = SecretSource.Form(text) else { return nil }
        return SecretSource(form: form, place: place(name))
    }

    mutating func inputFile(_ name: String) -> InputFile? {
        guard let text = string(name), case .file(let path)? = SecretSource.Form(text) else {
            return nil
        }
        return InputFile(path: path, place: place(name))
    }

    /// - Returns: nil when it is not written.
    mutating func list(_ name: String) -> [String]? {
        guard case .array(let nodes)? = value(name) else { return nil }
        return nodes.compactMap { node in
            guard case .string(let text) = node else { return nil }
            return text
        }
    }

    // MARK: Checks

    private mutating func string(_ name: String) -> String? {
        guard case .string(let text)? = value(name) else { return nil }
        return text
    }

    /// The value that holds: what is written if it is in order, else the default, if there is one.
    private mutating func value(_ name: String) -> TOMLNode? {
        guard let key = section.key(name) else {
            preconditionFailure("\(section.name).\(name) is read but not described")
        }
        if let written = fields[name] {
            guard let sentence = key.form.flaw(of: written) else { return written }
            fault(name, sentence)
        } else if case .required(let example) = key.presence {
            fault(name, "is required, such as \(name) = \(example.node.literal)")
        }
        guard case .byDefault(let standard) = key.presence else { return nil }
        return standard.node
    }
}
