import Foundation
import TestSupport

/// The clock of a stage: the simulated stores keep it, and the database follows.
extension Stage {
    /// Moves the clock of everything.
    func pass(_ period: String) async throws {
        try await move(#"{"advance":"\#(period)"}"#)
    }

    /// Sets the clock of everything: the stores' to this instant.
    func set(to instant: String) async throws {
        try await move(#"{"set":"\#(instant)"}"#)
    }

    private func move(_ how: String) async throws {
        _ = try await control("clock", how)
        try Self.moveDatabase(in: folder, ahead: databaseAhead)
    }

    /// Has the database's clock follow the simulator's, which has moved.
    static func moveDatabase(in folder: String, ahead: Duration) throws {
        guard ahead != .zero else { return }
        let told = try String(contentsOfFile: "\(folder)/clock", encoding: .utf8)
        guard let offset = Int64(told.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw StageFailure("the simulator's clock says \(told)")
        }
        let seconds = offset + ahead.components.seconds
        let file = databaseClock(in: folder, ahead: ahead)
        // As a whole: a server that reads half of it would be years off.
        try "\(seconds < 0 ? "" : "+")\(seconds)\n".write(
            toFile: "\(file).new", atomically: false, encoding: .utf8)
        chmod("\(file).new", 0o644)
        guard rename("\(file).new", file) == 0 else { throw StageFailure("rename: \(errno)") }
    }

    private static func databaseClock(in folder: String, ahead: Duration) -> String {
        ahead == .zero ? "\(folder)/clock" : "\(folder)/database-clock"
    }

    /// What makes a database's server follow its clock.
    ///
    /// - Throws: what is missing for it.
    static func clock(in folder: String, ahead: Duration) async throws -> [String: String] {
        let script = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../scripts/clock-preload").standardized.path
        let libraries = try await ChildProcess.run(script, [folder])
        guard libraries.exit == .code(0) else { throw StageFailure(libraries.standardError) }
        return [
            "LD_PRELOAD": libraries.standardOutput.trimmingCharacters(in: .newlines),
            "FAKETIME_TIMESTAMP_FILE": databaseClock(in: folder, ahead: ahead),
            "FAKETIME_NO_CACHE": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "DONT_FAKE_MONOTONIC": "1",
        ]
    }
}
