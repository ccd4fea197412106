/// Which target may import what: the layers of the house. The build holds the packages apart; this
/// holds the layers, and the modules of the toolchain that no build checks.
enum ImportRules {
    /// Our own targets, and what of ours each may import. `-` is nothing.
    private static let ours = rows(
        """
        CBuild          -
        CCurl           -
        CPostgres       -
        CSockets        -
        Sockets         CSockets
        Curl            CCurl
        Postgres        CPostgres
        Renewal         -
        Stores          Renewal Curl
        Ledger          Renewal Postgres
        Engine          Renewal
        Configuration   Renewal
        Explain         Ledger Renewal
        Daemon          Configuration Curl Engine Explain Ledger Postgres Renewal Sockets Stores
        renewald        CBuild Configuration Daemon Engine Explain Ledger Renewal Sockets
        StoreSimulator  -
        storesim        StoreSimulator
        """)

    /// Targets that may import nothing from outside but this.
    private static let closed = rows(
        """
        CBuild         -
        CCurl          -
        CPostgres      -
        CSockets       -
        Sockets        CSockets Glibc Dispatch Synchronization
        Renewal        -
        Engine         Logging ServiceLifecycle Synchronization
        Configuration  FoundationEssentials Glibc TOMLKit
        Explain        FoundationEssentials
        """)

    /// Modules from outside that only these targets may import.
    private static let guarded = rows(
        """
        CoreMetrics  Daemon
        Dispatch     Sockets Curl Postgres storesim
        NIOCore      Daemon StoreSimulator
        NIOHTTP1     Daemon StoreSimulator
        NIOPosix     Daemon StoreSimulator
        TOMLKit      Configuration
        """)

    static let rule = TidyRule(name: "imports") { file in
        guard file.isSwift, file.isUnder(["Sources"]), file.folders.count >= 2 else { return [] }
        let target = file.folders[1]
        guard let allowed = ours[target] else {
            return [(1, "is in \(target), a target without a line in ImportRules")]
        }
        return file.lines.enumerated().compactMap { index, line in
            guard let module = module(importedBy: line) else { return nil }
            let isFine =
                if ours[module] != nil {
                    allowed.contains(module)
                } else if let targets = guarded[module], !targets.contains(target) {
                    false
                } else {
                    closed[target].map { $0.contains(module) } ?? true
                }
            return isFine ? nil : (index + 1, "imports \(module), which \(target) may not")
        }
    }

    /// Reads `package import struct Foundation.Data` and the like.
    private static func module(importedBy line: Substring) -> String? {
        let words = line.code.split(separator: " ")
        guard let position = words.firstIndex(of: "import"),
            words[..<position].allSatisfy({ prefixes.contains($0) || $0.hasPrefix("@") })
        else { return nil }
        let kinds: Set<Substring> = [
            "struct", "class", "enum", "protocol", "func", "var", "let", "typealias",
        ]
        return words[(position + 1)...].first { !kinds.contains($0) }?
            .split(separator: ".").first.map(String.init)
    }

    private static let prefixes: Set<Substring> = [
        "package", "internal", "private", "fileprivate", "public",
    ]

    private static func rows(_ table: String) -> [String: Set<String>] {
        var rows: [String: Set<String>] = [:]
        for line in table.split(separator: "\n") {
            let words = line.split(separator: " ").map(String.init)
            rows[words[0]] = Set(words.dropFirst().filter { $0 != "-" })
        }
        return rows
    }
}
