extension ConfigurationKey.Form {
    /// What must be written, as the end of the sentence "must be …".
    package var range: String {
        switch self {
        case .text: "text"
        case .secret: "\"credential:NAME\", \"file:/path\" or \"env:NAME\""
        case .connection: "a libpq connection string, or where one is kept as for every secret"
        case .file: "\"file:/path\""
        case .origin: "https://HOST[:PORT], or http:// for a simulator, which is not encrypted"
        case .address: "https://HOST[:PORT]/PATH, or http:// for a simulator, not encrypted"
        case .listen: "an IP address and a port, such as \"127.0.0.1:9464\" or \"[::1]:9464\""
        case .choice(let words): Self.alternatives(words)
        case .onOff: Self.alternatives(["on", "off"])
        case .boolean: "true or false"
        case .integer(let range): "between \(range.lowerBound) and \(range.upperBound)"
        case .number(let range):
            "between \(TOMLNode.number(range.lowerBound).literal)"
                + " and \(TOMLNode.number(range.upperBound).literal)"
        case .duration(let range):
            "between \(ISODuration.text(range.lowerBound))"
                + " and \(ISODuration.text(range.upperBound))"
        case .list: "a list of strings"
        case .secrets: "a list of \"credential:NAME\", \"file:/path\" or \"env:NAME\""
        }
    }

    private static func alternatives(_ words: [String]) -> String {
        let quoted = words.map { "\"\($0)\"" }
        return quoted.dropLast().joined(separator: ", ") + " or " + (quoted.last ?? "")
    }
}

extension ConfigurationKey.Literal {
    var node: TOMLNode {
        switch self {
        case .string(let text): .string(text)
        case .integer(let value): .integer(value)
        case .number(let value): .number(value)
        case .boolean(let value): .boolean(value)
        case .list(let words): .array(words.map { .string($0) })
        }
    }
}
