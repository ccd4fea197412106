import Foundation

/// One file of the checkout, with its path from the top.
struct SourceFile: Sendable {
    let path: String
    let text: String

    var folders: [String] { path.split(separator: "/").dropLast().map(String.init) }

    var lines: [Substring] { text.split(separator: "\n", omittingEmptySubsequences: false) }

    var isSwift: Bool { path.hasSuffix(".swift") }

    /// Whether the text has those bytes: many times quicker than by characters.
    func mentions(_ words: String) -> Bool {
        strstr(text, words) != nil
    }

    /// Whether the path begins with one of the folders.
    func isUnder(_ places: [String]) -> Bool {
        places.contains { path == $0 || path.hasPrefix($0 + "/") }
    }
}

/// The checkout that this test was built from.
enum SourceTree {
    static let root = URL(filePath: #filePath).resolvingSymlinksInPath()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// What git tracks or would track: nothing that is ignored. It is asked once.
    static func tracked() throws -> [String] { try listed.get() }

    // `Process` waits for ever at times for a child that has ended already.
    private static let listed = Result {
        let folder = "'" + root.path.replacing("'", with: "'\\''") + "'"
        let options = "-z --cached --others --exclude-standard"
        guard let pipe = popen("git -c safe.directory='*' -C \(folder) ls-files \(options)", "r")
        else { throw CocoaError(.fileReadUnknown, userInfo: [NSFilePathErrorKey: root.path]) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while case let count = fread(&chunk, 1, chunk.count, pipe), count > 0 {
            bytes += chunk.prefix(count)
        }
        guard pclose(pipe) == 0 else {
            throw CocoaError(.fileReadUnknown, userInfo: [NSFilePathErrorKey: root.path])
        }
        let paths = String(decoding: bytes, as: UTF8.self).split(separator: "\0").map(String.init)
        // A file may be deleted and not yet committed.
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
