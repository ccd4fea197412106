import Foundation

/// One file of the checkout, with its path from the top.
struct SourceFile: Sendable {
    let path: String
    let text: String

    var folders: [String] { path.split(separator: "/").dropLast().map(String.init) }

    var lines: [Substring] { text.split(separator: "\n", omittingEmptySubsequences: false) }

    var isSwift: Bool { path.hasSuffix(".swift") }

    /// Whether the path begins with one of the folders.
    func isUnder(_ places: [String]) -> Bool {
        places.contains { path == $0 || path.hasPrefix($0 + "/") }
    }
}

/// The checkout that this test was built from.
enum SourceTree {
    static let root = URL(filePath: #filePath).resolvingSymlinksInPath()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// What git tracks or would track: nothing that is ignored.
    static func tracked() throws -> [String] {
        let git = Process()
        git.executableURL = URL(filePath: "/usr/bin/env")
        git.arguments = [
            "git", "-c", "safe.directory=*", "-C", root.path, "ls-files", "-z", "--cached",
            "--others", "--exclude-standard",
        ]
        let output = Pipe()
        git.standardOutput = output
        try git.run()
        let bytes = output.fileHandleForReading.readDataToEndOfFile()
        git.waitUntilExit()
        guard git.terminationStatus == 0 else {
            throw CocoaError(.fileReadUnknown, userInfo: [NSFilePathErrorKey: root.path])
        }
        let paths = String(decoding: bytes, as: UTF8.self).split(separator: "\0").map(String.init)
        // A file may be deleted and not yet committed, or be written at this moment.
        return paths.filter { FileManager.default.fileExists(atPath: root.path + "/" + $0) }
    }

    /// The text files among them.
    static func files() throws -> [SourceFile] {
        try tracked().compactMap { path in
            guard let bytes = try? Data(contentsOf: root.appending(path: path)),
                let text = String(validating: bytes, as: UTF8.self)
            else { return nil }
            return SourceFile(path: path, text: text)
        }
    }

    static func sizeBytes(_ path: String) -> Int {
        let attributes = try? FileManager.default.attributesOfItem(
            atPath: root.path + "/" + path)
        return (attributes?[.size] as? UInt64).map(Int.init) ?? 0
    }
}
