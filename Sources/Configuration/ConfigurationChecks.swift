extension ConfigurationKey.Form {
    /// Says what is wrong with a value; nil when it is in order.
    ///
    /// The value itself is repeated only where it can be no secret: numbers and durations.
    func flaw(of node: TOMLNode) -> String? {
        switch (self, node) {
        case (.boolean, .boolean): nil
        case (.integer(let range), .integer(let value)):
            range.contains(value) ? nil : "must be \(self.range), is \(value)"
        case (.number(let range), .integer(let value)):
            range.contains(Double(value)) ? nil : "must be \(self.range), is \(value)"
        case (.number(let range), .number(let value)):
            range.contains(value) ? nil : "must be \(self.range), is \(value)"
        case (.list, .array(let nodes)): flaw(ofList: nodes, .text)
        case (.secrets, .array(let nodes)): flaw(ofList: nodes, .secret)
        case (.text, .string(let text)), (.secret, .string(let text)),
            (.connection, .string(let text)), (.file, .string(let text)),
            (.origin, .string(let text)), (.address, .string(let text)),
            (.listen, .string(let text)), (.choice, .string(let text)),
            (.onOff, .string(let text)), (.duration, .string(let text)):
            flaw(ofText: text)
        default: "must be \(typeName), is \(node.typeName)"
        }
    }

    private var typeName: String {
        switch self {
        case .boolean: "true or false"
        case .integer: "a whole number"
        case .number: "a number"
        case .list, .secrets: "a list of strings"
        case .choice, .onOff: range
        case .duration: "a string such as \"PT10M\""
        case .text, .secret, .connection, .file, .origin, .address, .listen: "a string"
        }
    }

    private func flaw(ofText text: String) -> String? {
        guard !text.isEmpty else { return "must not be empty" }
        guard !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else { return "must not contain control characters" }
        switch self {
        case .text:
            let hasEdge = text.first?.isWhitespace == true || text.last?.isWhitespace == true
            return hasEdge ? "must not begin or end with a space" : nil
        case .choice(let words):
            return words.contains(text) ? nil : "must be \(range)"
        case .onOff:
            return ["on", "off"].contains(text) ? nil : "must be \(range)"
        case .duration(let limits): return Self.flaw(ofDuration: text, limits, range)
        case .secret: return SecretSource.Form(text) == nil ? "must be \(range)" : nil
        case .connection:
            let isSource = ["credential:", "file:", "env:"].contains { text.hasPrefix($0) }
            return isSource && SecretSource.Form(text) == nil ? "must be \(range)" : nil
        case .file:
            guard case .file? = SecretSource.Form(text) else {
                return "must be \(range), with an absolute path"
            }
            return nil
        case .origin: return WebAddress.flaw(of: text, withPath: false)
        case .address: return WebAddress.flaw(of: text, withPath: true)
        case .listen: return ListenAddress(text) == nil ? "must be \(range)" : nil
        case .boolean, .integer, .number, .list, .secrets: return nil
        }
    }

    private static func flaw(
        ofDuration text: String, _ limits: ClosedRange<Duration>, _ range: String
    ) -> String? {
        do throws(ISODuration.Flaw) {
            let duration = try ISODuration.parse(text)
            return limits.contains(duration) ? nil : "must be \(range)" + echo(text)
        } catch {
            switch error {
            case .monthsOrYears:
                return "must not use months or years, whose length varies: write weeks (P4W), "
                    + "days, hours, minutes or seconds"
            case .notADuration:
                return "must be an ISO 8601 duration such as \"PT10M\" or \"P30D\"" + echo(text)
            }
        }
    }

    private func flaw(ofList nodes: [TOMLNode], _ form: Self) -> String? {
        // By their bytes, as everywhere.
        var seen: Set<[UInt8]> = []
        for node in nodes {
            guard case .string(let text) = node else {
                return "must be a list of strings, has \(node.typeName) in it"
            }
            if let flaw = form.flaw(ofText: text) { return "has an entry that \(flaw)" }
            guard seen.insert(Array(text.utf8)).inserted else { return "names an entry twice" }
        }
        return nodes.isEmpty ? "must not be empty" : nil
    }

    /// Repeats what was written if it looks like a duration, as no secret does.
    private static func echo(_ text: String) -> String {
        let isPlain =
            text.utf8.count <= 20 && text.allSatisfy { "PYMWDTHS.0123456789hms".contains($0) }
        return isPlain ? ", is \"\(text)\"" : ""
    }
}

extension SecretSource {
    /// What an option of a command names; nil where it holds the value itself.
    package init?(option: String, _ text: String) {
        guard let form = Form(text) else { return nil }
        self.init(form: form, place: ConfigurationPlace(file: option, line: nil, key: ""))
    }
}

extension SecretSource.Form {
    /// Reads `credential:NAME`, `file:/path` or `env:NAME`; nil for anything else.
    init?(_ text: String) {
        guard let colon = text.firstIndex(of: ":") else { return nil }
        let rest = String(text[text.index(after: colon)...])
        switch text[..<colon] {
        // A credential is a file name, so that it cannot lead out of its folder.
        case "credential" where Self.isFileName(rest): self = .credential(name: rest)
        case "file" where rest.hasPrefix("/"): self = .file(path: rest)
        case "env" where !rest.isEmpty && !rest.contains("="): self = .environment(name: rest)
        default: return nil
        }
    }

    /// As it is written.
    var text: String {
        switch self {
        case .credential(let name): "credential:\(name)"
        case .file(let path): "file:\(path)"
        case .environment(let name): "env:\(name)"
        }
    }

    private static func isFileName(_ text: String) -> Bool {
        !text.isEmpty && !text.contains("/") && text != "." && text != ".."
    }
}

/// The URLs of a configuration: only what a store's address needs.
enum WebAddress {
    /// Says what is wrong, without repeating the URL, which might hold a password.
    static func flaw(of text: String, withPath: Bool) -> String? {
        let schemes = ["https://", "http://"]
        guard let scheme = schemes.first(where: { text.hasPrefix($0) }) else {
            return "must begin with https:// (or http://, which is not encrypted)"
        }
        let rest = text.dropFirst(scheme.count)
        guard rest.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            return "must not contain spaces or non-ASCII letters"
        }
        let authority = rest.prefix { !"/?#".contains($0) }
        let path = rest.dropFirst(authority.count)
        guard !authority.contains("@") else { return "must not contain a user or password" }
        guard !path.contains("?"), !path.contains("#") else {
            return "must not contain a query or fragment"
        }
        if let flaw = flaw(ofAuthority: authority) { return flaw }
        if withPath {
            return path.count > 1 ? nil : "must be whole, with its path"
        }
        return path.isEmpty || path == "/" ? nil : "must be an origin, without a path"
    }

    private static func flaw(ofAuthority authority: Substring) -> String? {
        var host = authority
        var port: Substring?
        let afterBracket = authority.lastIndex(of: "]") ?? authority.startIndex
        if let colon = authority[afterBracket...].lastIndex(of: ":") {
            host = authority[..<colon]
            port = authority[authority.index(after: colon)...]
        }
        guard !host.isEmpty else { return "must name a host" }
        if host.first == "[" {
            let inner = host.dropFirst().dropLast()
            let isAddress = inner.allSatisfy { $0.isHexDigit || $0 == ":" || $0 == "." }
            guard host.last == "]", !inner.isEmpty, isAddress else {
                return "must name a host or an IP address"
            }
        } else if !host.allSatisfy({ $0.isLetter || $0.isNumber || ".-_".contains($0) }) {
            return "must name a host or an IP address"
        }
        if let port {
            guard port.allSatisfy(\.isNumber), let number = UInt16(port), number > 0 else {
                return "must have a port between 1 and 65535"
            }
        }
        return nil
    }
}
