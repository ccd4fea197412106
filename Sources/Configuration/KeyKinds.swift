import Renewal

/// What may be written for a key, and what is made of it.
struct KeyKind<Value: Sendable>: Sendable {
    let form: ConfigurationKey.Form
    /// Reads what was found in order.
    let read: @Sendable (TOMLNode, ConfigurationPlace) -> Value?
    /// A value as it is written.
    let literal: @Sendable (Value) -> ConfigurationKey.Literal
}

extension Key {
    init(
        _ name: String, _ kind: KeyKind<Value>, default standard: Value,
        _ effect: ConfigurationKey.Effect, _ sentence: String
    ) {
        key = ConfigurationKey(
            name: name, form: kind.form, presence: .byDefault(kind.literal(standard)),
            effect: effect, sentence: sentence)
        absent = standard
        read = kind.read
    }

    /// Nothing where it is not written; the meaning says what that is.
    init<Written>(
        _ name: String, _ kind: KeyKind<Written>, or meaning: String,
        example: ConfigurationKey.Literal, _ effect: ConfigurationKey.Effect, _ sentence: String
    ) where Value == Written? {
        key = ConfigurationKey(
            name: name, form: kind.form, presence: .optional(meaning: meaning, example: example),
            effect: effect, sentence: sentence)
        absent = nil
        read = kind.read
    }

    /// The example stands for what is missing, until all faults are told.
    init(
        _ name: String, _ kind: KeyKind<Value>, required example: ConfigurationKey.Literal,
        _ effect: ConfigurationKey.Effect, _ sentence: String
    ) {
        key = ConfigurationKey(
            name: name, form: kind.form, presence: .required(example: example), effect: effect,
            sentence: sentence)
        let nowhere = ConfigurationPlace(file: "", line: nil, key: name)
        guard let value = kind.read(example.node, nowhere) else {
            preconditionFailure("the example of \(name) cannot be read")
        }
        absent = value
        read = kind.read
    }
}

extension KeyKind where Value == String {
    static let text = KeyKind(form: .text, read: { node, _ in node.text }, literal: { .string($0) })
    static let connection = KeyKind(
        form: .connection, read: { node, _ in node.text }, literal: { .string($0) })
    static let address = KeyKind(
        form: .address, read: { node, _ in node.text }, literal: { .string($0) })
    /// Read without a slash at its end.
    static let origin = KeyKind(
        form: .origin,
        read: { node, _ in node.text.map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 } },
        literal: { .string($0) })
}

extension KeyKind where Value: Identity {
    static var name: KeyKind {
        KeyKind(
            form: .text, read: { node, _ in node.text.map { Value($0) } },
            literal: { .string($0.text) })
    }
}

extension KeyKind where Value == Int {
    static func integer(_ range: ClosedRange<Int>) -> KeyKind {
        KeyKind(
            form: .integer(range),
            read: { node, _ in if case .integer(let value) = node { value } else { nil } },
            literal: { .integer($0) })
    }
}

extension KeyKind where Value == Double {
    static func number(_ range: ClosedRange<Double>) -> KeyKind {
        KeyKind(
            form: .number(range),
            read: { node, _ in
                switch node {
                case .integer(let value): Double(value)
                case .number(let value): value
                case .table, .array, .string, .boolean, .moment: nil
                }
            }, literal: { .number($0) })
    }
}

extension KeyKind where Value == Duration {
    static func duration(_ range: ClosedRange<Duration>) -> KeyKind {
        KeyKind(
            form: .duration(range),
            read: { node, _ in node.text.flatMap { try? ISODuration.parse($0) } },
            literal: { .string(ISODuration.text($0)) })
    }
}

extension KeyKind where Value == Bool {
    static let onOff = KeyKind(
        form: .onOff, read: { node, _ in node.text.map { $0 == "on" } },
        literal: { .string($0 ? "on" : "off") })
    static let boolean = KeyKind(
        form: .boolean,
        read: { node, _ in if case .boolean(let value) = node { value } else { nil } },
        literal: { .boolean($0) })
}

extension KeyKind where Value: CaseIterable & RawRepresentable, Value.RawValue == String {
    static var choice: KeyKind {
        KeyKind(
            form: .choice(Value.allCases.map(\.rawValue)),
            read: { node, _ in node.text.flatMap(Value.init(rawValue:)) },
            literal: { .string($0.rawValue) })
    }
}

extension KeyKind where Value == [String] {
    static let list = KeyKind(
        form: .list,
        read: { node, _ in
            guard case .array(let nodes) = node else { return nil }
            return nodes.compactMap(\.text)
        }, literal: { .list($0) })
}

extension KeyKind where Value == SecretSource {
    static let secret = KeyKind(
        form: .secret,
        read: { node, place in
            node.text.flatMap(SecretSource.Form.init).map { SecretSource(form: $0, place: place) }
        }, literal: { .string($0.form.text) })
}

extension KeyKind where Value == [SecretSource] {
    static let secrets = KeyKind(
        form: .secrets,
        read: { node, place in
            guard case .array(let nodes) = node else { return nil }
            return nodes.compactMap { $0.text.flatMap(SecretSource.Form.init) }.map { form in
                SecretSource(form: form, place: place)
            }
        }, literal: { .list($0.map(\.form.text)) })
}

extension KeyKind where Value == InputFile {
    static let file = KeyKind(
        form: .file,
        read: { node, place in
            guard case .file(let path)? = node.text.flatMap(SecretSource.Form.init) else {
                return nil
            }
            return InputFile(path: path, place: place)
        }, literal: { .string("file:\($0.path)") })
}

extension KeyKind where Value == ListenAddress {
    static let listen = KeyKind(
        form: .listen, read: { node, _ in node.text.flatMap(ListenAddress.init) },
        literal: { .string($0.description) })
}

extension TOMLNode {
    /// Nil for what is no string.
    fileprivate var text: String? { if case .string(let text) = self { text } else { nil } }
}
