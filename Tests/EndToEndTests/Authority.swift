import Foundation
import TestSupport

/// A certificate authority of a test, and what it has signed, in a folder of its own.
final class Authority: Sendable {
    let folder: String

    /// - Throws: when there is no `openssl`.
    init() async throws {
        var template = Array("/tmp/rw-authority-XXXXXX".utf8CString)
        guard let made = mkdtemp(&template).map({ String(cString: $0) }) else {
            throw StageFailure("mkdtemp: \(errno)")
        }
        folder = made
        chmod(made, 0o755)
        try await openssl(
            ["req", "-x509", "-subj", "/CN=authority"] + Self.newKey
                + ["-keyout", "\(made)/ca.key", "-out", certificate])
    }

    deinit {
        try? FileManager.default.removeItem(atPath: folder)
    }

    var certificate: String { "\(folder)/ca.crt" }

    /// Signs a certificate for a host or a user: `NAME.crt` and `NAME.key` in the folder.
    func sign(_ name: String) async throws {
        let request = "\(folder)/\(name).csr"
        try await openssl(
            ["req", "-subj", "/CN=\(name)", "-addext", "subjectAltName=DNS:\(name)"]
                + Self.newKey + ["-keyout", "\(folder)/\(name).key", "-out", request])
        try await openssl([
            "x509", "-req", "-in", request, "-copy_extensions", "copy", "-CA", certificate,
            "-CAkey", "\(folder)/ca.key", "-out", "\(folder)/\(name).crt",
        ])
    }

    private static let newKey = [
        "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
    ]

    private func openssl(_ arguments: [String]) async throws {
        let run = try await ChildProcess.run("openssl", arguments)
        guard run.exit == .code(0) else { throw StageFailure(run.standardError) }
    }
}
