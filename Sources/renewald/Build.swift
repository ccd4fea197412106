import CBuild
import Daemon

/// What this program was built from.
struct Build {
    /// Twelve hexadecimal digits; nil where it was built without `scripts/stamp`.
    let commit: String?
    /// Whether the source was not as committed.
    let isChanged: Bool
    let isDebug: Bool
    /// Such as `6.3.1`; nil where it was built without `scripts/stamp`.
    let swift: String?

    static var this: Build {
        let digits = String(renewald_commit(), radix: 16)
        let swift = renewald_swift()
        #if DEBUG
            let isDebug = true
        #else
            let isDebug = false
        #endif
        return Build(
            commit: renewald_commit() == 0
                ? nil : String(repeating: "0", count: max(0, 12 - digits.count)) + digits,
            isChanged: renewald_is_changed() != 0, isDebug: isDebug,
            swift: swift == 0 ? nil : "\(swift / 10_000).\(swift / 100 % 100).\(swift % 100)")
    }

    /// What `--version` says: `renewald 0.2.0 (commit 0123456789ab, release build, Swift 6.3.1)`.
    var text: String {
        let commit = "commit " + (commit ?? "unknown") + (isChanged ? " with changes" : "")
        let parts = [
            commit, isDebug ? "debug build" : "release build", swift.map { "Swift \($0)" },
        ]
        return "renewald \(Version.text) (\(parts.compactMap { $0 }.joined(separator: ", ")))"
    }

    /// The same, a line for each library that is linked at run time, and one for each package that
    /// is linked in.
    var verboseText: String {
        ([text] + Version.libraries + LinkedPackages.all).joined(separator: "\n")
    }
}
