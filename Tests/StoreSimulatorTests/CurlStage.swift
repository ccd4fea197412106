import Foundation
import Synchronization
import TestSupport

@testable import StoreSimulator

/// What a `curl` child process saw.
struct CurlSight {
    /// 0 when curl is content, 18 for a part of a body, 28 for a time limit, 52 for nothing.
    var exit: Int32
    var status: Int
    /// The head and the body, as they came.
    var head: String
    var body: String
}

/// A simulator that listens with TLS, and `curl` to ask it.
struct CurlStage {
    let simulator: Simulator
    let stage: Stage
    let folder: URL

    /// Runs `body` with a simulator whose clock stands still at 2026-01-01, and ends it.
    static func with(
        seed: UInt64 = 1, answers: URL? = nil, isDemonstration: Bool = false,
        _ body: (CurlStage) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "storesim-curl-\(UUID().uuidString)")
        var options = Simulator.Options(directory: folder.path)
        options.seed = seed
        options.clock = Days.start
        options.speed = 0
        options.answers = answers?.path
        options.isDemonstration = isDemonstration
        let simulator = try await Simulator.start(options)
        let result: Result<Void, any Error>
        do {
            let stage = Stage(responder: simulator.responder)
            try await body(CurlStage(simulator: simulator, stage: stage, folder: folder))
            result = .success(())
        } catch {
            result = .failure(error)
        }
        simulator.quit()
        try await simulator.run()
        try FileManager.default.removeItem(at: folder)
        try result.get()
    }

    /// Asks for a path, or posts a body, as any program would that was given the CA.
    func curl(
        _ path: String, bearer: String? = nil, post: String? = nil, _ more: [String] = []
    ) async throws -> CurlSight {
        var arguments = ["--silent", "--include", "--max-time", "30"]
        arguments += ["--cacert", folder.appendingPathComponent("ca.pem").path]
        if let bearer { arguments += ["--header", "Authorization: Bearer \(bearer)"] }
        if let post { arguments += ["--data", post] }
        return try await run(arguments + more + [simulator.origin + path])
    }

    func run(_ arguments: [String]) async throws -> CurlSight {
        let run = try await ChildProcess.run("curl", arguments)
        guard case .code(let exit) = run.exit else { throw ChildProcess.Failure.stillRunning }
        let parts = run.standardOutput.split(separator: "\r\n\r\n", maxSplits: 1)
        let head = parts.first.map(String.init) ?? ""
        let status = head.split(separator: " ").dropFirst().first.flatMap { Int($0.prefix(3)) }
        return CurlSight(
            exit: exit, status: status ?? 0, head: head,
            body: parts.count == 2 ? String(parts[1]) : "")
    }

    /// Asks about a purchase in its store's usual way.
    func ask(_ purchase: Purchase, _ more: [String] = []) async throws -> CurlSight {
        switch purchase.store {
        case .apple:
            try await curl(
                "/inApps/v1/subscriptions/\(purchase.token)", bearer: stage.appleToken(), more)
        case .google:
            try await curl(
                Stage.googlePath(purchase.token), bearer: stage.googleBearer(), more)
        case .amazon:
            try await curl(
                Stage.amazonPath(purchase, secret: stage.credentials.amazonSecret), more)
        }
    }
}

extension Stage {
    init(responder: Responder) {
        self.responder = responder
    }
}

extension CurlSight {
    /// The body as a JSON object; empty when it is none.
    var object: [String: Any] {
        (try? JSONSerialization.jsonObject(with: Data(body.utf8))) as? [String: Any] ?? [:]
    }

    /// The value of a header, whose name is in lower case.
    func header(_ name: String) -> String? {
        for line in head.split(separator: "\r\n") {
            let sides = line.split(separator: ":", maxSplits: 1)
            if sides.count == 2, sides[0].lowercased() == name {
                return sides[1].trimmingCharacters(in: .whitespaces)
            }
        }
        return nil
    }
}
