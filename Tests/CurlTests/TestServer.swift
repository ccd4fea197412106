import Curl
import Foundation

/// A server in a child process, ended with the value: it leaves when its input is closed.
final class TestServer: Sendable {
    /// Such as `https://localhost:41234`.
    let origin: String
    let certificateFile: String
    private let input: FileHandle
    private let lines: AsyncStream<String>

    /// - Parameters:
    ///   - script: a Python program which prints `PORT FILE` first.
    ///   - arguments: the program's.
    ///   - scheme: of `origin`.
    /// - Throws: when there is no Python, or no `openssl` for the certificate.
    init(_ script: String, _ arguments: [String], scheme: String = "https") async throws {
        let (process, input, output) = (Process(), Pipe(), Pipe())
        process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
        process.arguments = ["-c", script] + arguments
        process.standardInput = input
        process.standardOutput = output
        lines = Self.lines(of: output.fileHandleForReading)
        try process.run()
        self.input = input.fileHandleForWriting
        var first: [Substring] = []
        for await line in lines {
            first = line.split(separator: " ")
            break
        }
        guard first.count == 2 else { throw ServerDidNotStart() }
        origin = "\(scheme)://localhost:\(first[0])"
        certificateFile = String(first[1])
    }

    static func web(
        name: String = "localhost", hasExpired: Bool = false
    ) async throws -> TestServer {
        try await TestServer(webServerScript, [hasExpired ? "expired" : "tls", name])
    }

    static func plainWeb() async throws -> TestServer {
        try await TestServer(webServerScript, ["plain", "localhost"], scheme: "http")
    }

    static func streams(_ deed: String, _ number: Int) async throws -> TestServer {
        try await TestServer(streamServerScript, [deed, "\(number)"])
    }

    deinit {
        try? input.close()
    }

    /// Lets the requests for `/held` go.
    func tell(_ word: String) throws {
        try input.write(contentsOf: Data("\(word)\n".utf8))
    }

    /// Returns when the server has printed a line that begins so, `count` times.
    func waitFor(_ beginning: String, count: Int = 1) async {
        var seen = 0
        for await line in lines where line.hasPrefix(beginning) {
            seen += 1
            if seen == count { return }
        }
    }

    /// A request that trusts this server, with time enough for a busy machine.
    func request(
        _ path: String, method: HTTPMethod = .get, headers: [HTTPHeader] = [],
        body: [UInt8]? = nil, deadline: Duration = .seconds(60), bodyLimitBytes: Int = 1 << 20
    ) -> HTTPRequest {
        HTTPRequest(
            method: method, url: origin + path, headers: headers, body: body, deadline: deadline,
            bodyLimitBytes: bodyLimitBytes, certificateAuthorityFile: certificateFile,
            allowsPlainHTTP: origin.hasPrefix("http:"))
    }

    /// Reads on a thread of its own: a blocking read must not hold one of the shared pool.
    private static func lines(of output: FileHandle) -> AsyncStream<String> {
        AsyncStream { continuation in
            Thread.detachNewThread {
                var rest = Data()
                var data = output.availableData
                while !data.isEmpty {
                    rest.append(data)
                    while let end = rest.firstIndex(of: 10) {
                        continuation.yield(String(decoding: rest[..<end], as: UTF8.self))
                        rest = Data(rest[(end + 1)...])
                    }
                    data = output.availableData
                }
                continuation.finish()
            }
        }
    }
}

struct ServerDidNotStart: Error {}

extension HTTPResponse {
    var text: String { String(decoding: body, as: UTF8.self) }
}

/// Runs `body` with a client that is closed afterwards.
func withClient<Value>(
    _ configuration: CurlConfiguration = CurlConfiguration(),
    _ body: (CurlClient) async throws -> Value
) async throws -> Value {
    let client = try CurlClient(configuration: configuration)
    let result: Result<Value, any Error>
    do {
        result = .success(try await body(client))
    } catch {
        result = .failure(error)
    }
    await client.close()
    return try result.get()
}
