extension TidyRule {
    private static let columnLimit = 100

    /// Every rule about one file. Banned words are spelled apart, as this file is looked at too.
    static let all: [TidyRule] = [
        ImportRules.rule,
        .ban(
            "unsafe code", ["unsafe"], in: ["Sources"],
            except: ["Curl", "Postgres", "Sockets", "StoreSimulator"].map {
                "Sources/\($0)"
            },
            because: "C pointers stay in the wrappers"),
        .ban(
            "forced", ["tr" + "y!", "a" + "s!"], in: ["Sources", "Tests"],
            because: "handle it or pass it on"),
        .ban(
            "left-overs", ["TO" + "DO", "FIX" + "ME", "XX" + "X"],
            in: ["Sources", "Tests", "Package.swift"], because: "do it or file it"),
        .ban(
            "not written yet",
            ["fatalError(\"" + "not", "fatalError(\"" + "un", "unimplem" + "ented"],
            in: ["Sources"], because: "write it"),
        .ban(
            "clock", ["Date" + "()", "Date" + ".now", "time" + "(nil)", "gettimeof" + "day"],
            in: ["Sources"],
            except: [
                "Sources/Daemon/WallClock.swift",
                "Sources/StoreSimulator/World/SimulatedClock.swift",
            ], because: "time is passed in"),
        .ban(
            "sleeping tests", ["Task" + ".sleep", "usl" + "eep", "Thread" + ".sleep"],
            in: ["Tests"], because: "wait for the thing itself"),
        .ban(
            "stored facts", ["stored" + "Product"], in: ["Sources"],
            except: ["Sources/Renewal", "Sources/Ledger/Claims/PurchaseFactColumns.swift"],
            because: "what access hangs on comes from the core, or from a row"),
        .ban(
            "made-up outcomes", ["@testable " + "import Renewal"], in: ["Sources", "Tests"],
            except: ["Tests/RenewalTests"], because: "what nobody else may make, no test makes"),
        .ban(
            "waits for ever", ["waitUntil" + "Exit", "termination" + "Handler"], in: ["Tests"],
            because: "Foundation misses the end of a child at times: ChildProcess or Shell"),
        .lines("public", in: ["Sources"]) { line in
            let words = line.code.split(separator: " ")
            guard let position = words.firstIndex(of: "public"),
                words[..<position].allSatisfy({ $0.hasPrefix("@") || modifiers.contains($0) })
            else { return nil }
            return "is public: between targets the word is package"
        },
        .lines("closure in a mutex", in: ["Sources"]) { line in
            guard let type = line.code.split(separator: "Mutex<").dropFirst().first,
                type.contains("->")
            else { return nil }
            return "is wrapped once more with each look at it: put it in a struct"
        },
        .lines("identity", in: ["Renewal", "Ledger", "Engine"].map { "Sources/\($0)" }) { line in
            let code = line.code.filter { $0 != " " }
            let keys = ["[String:", "[String?:", "Set<String", "Dictionary<String"]
            if let key = keys.first(where: code.contains) {
                return "has \(key): what identifies is a type over bytes"
            }
            return ids.first { line.code.containsWord("\($0): String") }.map {
                "has a String for \($0): what identifies is a type over bytes"
            }
        },
        .lines("columns", in: ["Sources"]) { line in
            line.count > columnLimit ? "has \(line.count) columns of \(columnLimit)" : nil
        },
        LengthRules.files, LengthRules.functions,
        TidyRule(name: "SQL in Swift") { file in
            guard file.isSwift, file.isUnder(["Sources"]) else { return [] }
            var isFirstOfBlock = false
            var found: [(line: Int, what: String)] = []
            for (index, line) in file.lines.enumerated() {
                let text = line.trimmed
                let strings = text.split(separator: "\"", omittingEmptySubsequences: false)
                    .dropFirst()
                if isFirstOfBlock && isSQL(text) || strings.contains(where: isSQL) {
                    found.append((index + 1, "has SQL in a string: it belongs in a .sql file"))
                }
                isFirstOfBlock = text.hasSuffix("\"\"\"")
            }
            return found
        },
        TidyRule(name: "SQL comment") { file in
            guard file.path.hasSuffix(".sql"), file.isUnder(["Sources/Ledger/Queries"]),
                !file.text.hasPrefix("-- ")
            else { return [] }
            return [(1, "does not begin with what it does, its parameters and its rows")]
        },
        StatementRules.rereading,
        CitusRules.rule,
    ]

    private static let ids = [
        "userID", "user", "claimant", "storeUserID", "product", "productID", "entitlement",
        "orderID", "order", "originalID", "period", "group", "appID", "bundleID", "token",
        "predecessorToken", "nextToken",
    ]

    private static let modifiers: Set<Substring> = ["final", "static", "override", "nonisolated"]

    private static func isSQL(_ text: Substring) -> Bool {
        let text = text.trimmed
        let starts = ["SELECT ", "INSERT INTO ", "DELETE FROM ", "WITH "]
        return starts.contains { text.hasPrefix($0) }
            || text.hasPrefix("UPDATE ") && (text.contains(" SET") || !text.contains(" "))
            || text == "SELECT"
    }

    // MARK: The checkout as a whole

    private static let sizeLimitBytes = 512 * 1024

    /// What must not be tracked: paths, each with its size in bytes.
    static func misplaced(_ files: [(path: String, sizeBytes: Int)]) -> [String] {
        files.compactMap { path, size in
            let folders = path.split(separator: "/")
            if folders.last == "Package.resolved" || folders.contains(".build") {
                return "\(path): is made by the build"
            }
            return size > sizeLimitBytes ? "\(path): has \(size) bytes of \(sizeLimitBytes)" : nil
        }
    }

    /// The documents that a README names, by link or between back-ticks, and that do not exist.
    static func missingDocuments(readme: String, existing: Set<String>) -> [String] {
        let links = readme.components(between: "](", and: ")")
        let quoted = readme.components(between: "`", and: "`").filter {
            $0.hasSuffix(".md") && !$0.contains(" ")
        }
        return (links + quoted).compactMap { name in
            var path = name.prefix { $0 != "#" }
            if path.hasPrefix("./") { path = path.dropFirst(2) }
            if path.hasSuffix("/") { path = path.dropLast() }
            guard !path.isEmpty, !path.contains("://"), !path.hasPrefix("mailto:") else {
                return nil
            }
            let isThere = existing.contains { $0 == path || $0.hasPrefix(path + "/") }
            return isThere ? nil : String(path)
        }
    }
}

extension String {
    /// The texts between two marks, on one line each.
    fileprivate func components(between start: String, and end: String) -> [Substring] {
        var found: [Substring] = []
        for line in split(separator: "\n") {
            var rest = line[...]
            while let open = rest.firstRange(of: start) {
                rest = rest[open.upperBound...]
                guard let close = rest.firstRange(of: end) else { break }
                found.append(rest[..<close.lowerBound])
                rest = rest[close.upperBound...]
            }
        }
        return found
    }
}
