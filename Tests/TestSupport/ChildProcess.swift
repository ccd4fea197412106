import Foundation
import Synchronization

/// A program that a test runs: its output is kept, its lines can be waited for, and it is killed
/// when the test process ends, however that ends.
package final class ChildProcess: Sendable {
    /// Why a wait or a start failed.
    package enum Failure: Error, Hashable {
        case cannotStart(errno: Int32)
        /// The time limit passed; with the end of the output so far.
        case noSuchLine(output: String)
        case ended(Exit, output: String)
        case stillRunning
    }

    /// How it ended.
    package enum Exit: Hashable, Sendable {
        case code(Int32)
        case signal(Int32)
    }

    /// What a whole run gave.
    package struct Output: Sendable {
        package let exit: Exit
        package let standardOutput: String
        package let standardError: String
    }

    private struct LineWait {
        let number: Int
        let matches: @Sendable (String) -> Bool
        let continuation: CheckedContinuation<Result<String, Failure>, Never>
    }

    private struct State {
        var streams = [Data(), Data()]
        /// The beginning of a line whose end has not come, for each stream.
        var partial = [Data(), Data()]
        var lines: [String] = []
        var exit: Exit?
        var waits: [LineWait] = []
        var exitWaits: [(number: Int, CheckedContinuation<Exit?, Never>)] = []
        var lastNumber = 0
    }

    private let state = Mutex(State())
    private let log: FileHandle?
    /// The process number.
    package let pid: Int32

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - program: a path, or a name that is looked for in `PATH`.
    ///   - arguments: without the program's name.
    ///   - environment: the whole environment; nil for that of the test process.
    ///   - workingFolder: nil for that of the test process.
    ///   - logFile: also gets all output.
    /// - Throws: `.cannotStart`.
    package init(
        _ program: String, _ arguments: [String] = [], environment: [String: String]? = nil,
        workingFolder: String? = nil, logFile: String? = nil
    ) throws {
        log = logFile.flatMap { path in
            guard FileManager.default.createFile(atPath: path, contents: nil) else { return nil }
            return FileHandle(forWritingAtPath: path)
        }
        let (output, errors) = (try Spawner.shared.pipe(), try Spawner.shared.pipe())
        defer { [output, errors].forEach { close($0.writing) } }
        let folder = workingFolder.map { ["env", "--chdir=\($0)"] } ?? []
        do {
            pid = try Spawner.shared.spawn(
                "setpriv", ["--pdeathsig", "KILL", "--"] + folder + [program] + arguments,
                environment: environment ?? ProcessInfo.processInfo.environment,
                descriptors: [nil, output.writing, errors.writing])
        } catch {
            [output, errors].forEach { close($0.reading) }
            throw error
        }
        let drained = DispatchGroup()
        for (stream, descriptor) in [output.reading, errors.reading].enumerated() {
            drained.enter()
            Self.thread("reader") { [self] in
                read(descriptor, stream: stream)
                drained.leave()
            }
        }
        Self.thread("waiter") { [self] in
            var status: Int32 = 0
            while waitpid(pid, &status, 0) < 0, errno == EINTR {}
            // A grandchild may keep the pipes open; the output of the child itself is there.
            _ = drained.wait(timeout: .now() + 2)
            let signal = status & 0x7F
            end(signal == 0 ? .code((status >> 8) & 0xFF) : .signal(signal))
        }
    }

    /// Runs a program to its end.
    package static func run(
        _ program: String, _ arguments: [String] = [], environment: [String: String]? = nil,
        workingFolder: String? = nil, within limit: Duration = .seconds(60)
    ) async throws -> Output {
        let child = try ChildProcess(
            program, arguments, environment: environment, workingFolder: workingFolder)
        let exit = try await child.exit(within: limit)
        return Output(
            exit: exit, standardOutput: child.standardOutput, standardError: child.standardError)
    }

    /// All that it wrote to standard output so far.
    package var standardOutput: String { text(of: 0) }
    /// All that it wrote to standard error so far.
    package var standardError: String { text(of: 1) }
    /// The lines of both, in the order in which they came.
    package var lines: [String] { state.withLock(\.lines) }

    /// How it ended; nil as long as it runs.
    package var ended: Exit? { state.withLock(\.exit) }

    /// Sends a signal, such as `SIGTERM`, unless it has ended.
    package func send(_ signal: Int32) {
        state.withLock { state in
            guard state.exit == nil else { return }
            _ = kill(pid, signal)
        }
    }

    /// The same after a while.
    package func send(_ signal: Int32, after delay: Duration) {
        DispatchQueue.global().asyncAfter(deadline: .now() + delay.timeInterval) { [self] in
            send(signal)
        }
    }

    /// The first line of either stream that matches, also one that came before the call.
    ///
    /// - Throws: `.ended` when the program ended without, `.noSuchLine` at the time limit.
    package func line(
        within limit: Duration = .seconds(30),
        where matches: @escaping @Sendable (String) -> Bool
    ) async throws -> String {
        let number = nextNumber()
        let result = await withCheckedContinuation { continuation in
            let answer: Result<String, Failure>? = state.withLock { state in
                if let line = state.lines.first(where: matches) { return .success(line) }
                if let exit = state.exit {
                    return .failure(.ended(exit, output: Self.tail(state)))
                }
                state.waits.append(
                    LineWait(number: number, matches: matches, continuation: continuation))
                return nil
            }
            if let answer { continuation.resume(returning: answer) }
            DispatchQueue.global().asyncAfter(deadline: .now() + limit.timeInterval) { [self] in
                giveUpLine(number)
            }
        }
        return try result.get()
    }

    /// Waits for its end.
    ///
    /// - Throws: `.stillRunning` at the time limit.
    package func exit(within limit: Duration = .seconds(30)) async throws -> Exit {
        let number = nextNumber()
        let exit = await withCheckedContinuation { continuation in
            let exit: Exit? = state.withLock { state in
                if let exit = state.exit { return exit }
                state.exitWaits.append((number, continuation))
                return nil
            }
            if let exit { continuation.resume(returning: exit) }
            DispatchQueue.global().asyncAfter(deadline: .now() + limit.timeInterval) { [self] in
                giveUpExit(number)
            }
        }
        guard let exit else { throw Failure.stillRunning }
        return exit
    }
}

// MARK: - Reading and waiting

extension ChildProcess {
    private static func thread(_ name: String, _ body: @escaping @Sendable () -> Void) {
        let thread = Thread(block: body)
        thread.name = name
        thread.start()
    }

    private func read(_ descriptor: Int32, stream: Int) {
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            take(Data(buffer[..<count]), stream: stream)
        }
        // A last line without an end is a line.
        take(Data(), stream: stream, isEnd: true)
    }

    private func take(_ data: Data, stream: Int, isEnd: Bool = false) {
        log?.write(data)
        let resumed = state.withLock { state -> [(LineWait, String)] in
            state.streams[stream] += data
            state.partial[stream] += data
            var parts = state.partial[stream].split(
                separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            state.partial[stream] = isEnd ? Data() : Data(parts.popLast() ?? Data())
            if isEnd, parts.last?.isEmpty == true { parts.removeLast() }
            let lines = parts.map { String(decoding: $0, as: UTF8.self) }
            state.lines += lines
            var resumed: [(LineWait, String)] = []
            state.waits.removeAll { wait in
                guard let line = lines.first(where: wait.matches) else { return false }
                resumed.append((wait, line))
                return true
            }
            return resumed
        }
        for (wait, line) in resumed { wait.continuation.resume(returning: .success(line)) }
    }

    private func end(_ exit: Exit) {
        let (waits, exitWaits, output) = state.withLock { state in
            state.exit = exit
            defer {
                state.waits = []
                state.exitWaits = []
            }
            return (state.waits, state.exitWaits, Self.tail(state))
        }
        for wait in waits {
            wait.continuation.resume(returning: .failure(.ended(exit, output: output)))
        }
        for (_, continuation) in exitWaits { continuation.resume(returning: exit) }
    }

    private func giveUpLine(_ number: Int) {
        let (wait, output) = state.withLock { state -> (LineWait?, String) in
            let index = state.waits.firstIndex { $0.number == number }
            return (index.map { state.waits.remove(at: $0) }, Self.tail(state))
        }
        wait?.continuation.resume(returning: .failure(.noSuchLine(output: output)))
    }

    private func giveUpExit(_ number: Int) {
        let continuation = state.withLock { state in
            let index = state.exitWaits.firstIndex { $0.number == number }
            return index.map { state.exitWaits.remove(at: $0).1 }
        }
        continuation?.resume(returning: nil)
    }

    private func nextNumber() -> Int {
        state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
    }

    private func text(of stream: Int) -> String {
        state.withLock { String(decoding: $0.streams[stream], as: UTF8.self) }
    }

    private static func tail(_ state: State) -> String {
        state.lines.suffix(20).joined(separator: "\n")
    }
}

extension Duration {
    fileprivate var timeInterval: TimeInterval { self / .seconds(1) }
}
