import Foundation
import Testing

/// Each sabotage of Tests/Mutants still fits the sources: whoever changes what it spoils writes it
/// anew in the same commit. Whether a test notices it is shown by `make mutants`.
@Suite struct MutantTests {
    /// What a patch wants to find, by file: the lines of each hunk before the change.
    private struct Hunk {
        var path: String
        var old: [Substring] = []
    }

    private func hunks(of patch: SourceFile) -> [Hunk] {
        var hunks: [Hunk] = []
        var path = ""
        for line in patch.lines {
            if line.hasPrefix("--- a/") {
                path = String(line.dropFirst(6))
            } else if line.hasPrefix("@@ ") {
                hunks.append(Hunk(path: path))
            } else if !hunks.isEmpty, line.hasPrefix(" ") || line.hasPrefix("-") {
                hunks[hunks.count - 1].old.append(line.dropFirst())
            }
        }
        return hunks
    }

    @Test func eachFitsTheSources() throws {
        let files = try SourceTree.files()
        let patches = files.filter { $0.isUnder(["Tests/Mutants"]) }
        #expect(patches.count > 60)
        let texts = Dictionary(files.map { ($0.path, $0.text) }, uniquingKeysWith: { $1 })
        for patch in patches {
            let hunks = hunks(of: patch)
            #expect(!hunks.isEmpty, "\(patch.path) changes nothing")
            for hunk in hunks {
                let fits = texts[hunk.path]?.contains(hunk.old.joined(separator: "\n")) ?? false
                #expect(fits, "\(patch.path) does not fit \(hunk.path) any more")
            }
        }
    }

    /// A target, or a suite with its target before it: anything else would run no test.
    @Test func eachNamesSuitesThatExist() throws {
        let files = try SourceTree.files()
        for patch in files where patch.isUnder(["Tests/Mutants"]) {
            let line = try #require(patch.lines.first { $0.hasPrefix("Tests: ") })
            for name in line.dropFirst(7).split(separator: "|", omittingEmptySubsequences: false) {
                let parts = name.split(separator: ".", maxSplits: 1)
                let suite = parts.count > 1 ? "struct \(parts[1]) {" : "struct "
                let exists = files.contains {
                    $0.isUnder(["Tests/\(parts.first ?? "?")"]) && $0.text.contains(suite)
                }
                #expect(exists, "\(patch.path): there is no \(name)")
            }
        }
    }

    @Test func eachRuleAndPromiseHasSome() throws {
        let names = try SourceTree.tracked().filter { $0.hasPrefix("Tests/Mutants/") }
            .compactMap { $0.split(separator: "/").last?.split(separator: "-").first }
        let counts = Dictionary(names.map { (String($0), 1) }, uniquingKeysWith: +)
        let rules = (1...16).map { "rule\($0 < 10 ? "0" : "")\($0)" }
        for rule in rules { #expect(counts[rule, default: 0] >= 3, "\(rule) has too few mutants") }
    }
}
