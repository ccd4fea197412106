import Foundation

/// Starts processes from one thread that lives as long as this process.
///
/// "Kill the child when its parent dies" means, to Linux, the thread that made the child; a thread
/// of a pool ends when it is idle and would take the child with it.
final class Spawner: Sendable {
    static let shared = Spawner()

    private final class Inbox: @unchecked Sendable {
        // Unchecked: every access to `jobs` holds `condition`.
        let condition = NSCondition()
        var jobs: [@Sendable () -> Void] = []
    }

    private let inbox = Inbox()

    private init() {
        let inbox = inbox
        let thread = Thread {
            while true {
                inbox.condition.lock()
                while inbox.jobs.isEmpty { inbox.condition.wait() }
                let job = inbox.jobs.removeFirst()
                inbox.condition.unlock()
                job()
            }
        }
        thread.name = "spawner"
        thread.start()
    }

    /// Runs `posix_spawn` on the thread; blocks until it has returned.
    ///
    /// - Parameters:
    ///   - program: a path, or a name that is looked for in `PATH`.
    ///   - arguments: without the program's name.
    ///   - environment: the whole environment of the child.
    ///   - descriptors: what becomes standard input, output and error; nil is `/dev/null`.
    /// - Returns: the process number.
    /// - Throws: `.cannotStart`.
    func spawn(
        _ program: String, _ arguments: [String], environment: [String: String],
        descriptors: [Int32?]
    ) throws(ChildProcess.Failure) -> Int32 {
        try onThread {
            Self.spawnHere(program, arguments, environment: environment, descriptors: descriptors)
        }.get()
    }

    /// A pipe that no child inherits: made between two children, because `pipe` and the flag are
    /// two steps, and a child that got an end would keep the pipe open.
    ///
    /// - Returns: the two ends, to be closed by the caller.
    /// - Throws: `.cannotStart`.
    func pipe() throws(ChildProcess.Failure) -> (reading: Int32, writing: Int32) {
        let result: Result<[Int32], ChildProcess.Failure> = onThread {
            var ends: [Int32] = [-1, -1]
            guard Glibc.pipe(&ends) == 0 else { return .failure(.cannotStart(errno: errno)) }
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            return .success(ends)
        }
        let ends = try result.get()
        return (ends[0], ends[1])
    }

    private func onThread<Value: Sendable>(_ work: @escaping @Sendable () -> Value) -> Value {
        let done = DispatchSemaphore(value: 0)
        let answer = Answer<Value>()
        inbox.condition.lock()
        inbox.jobs.append {
            answer.value = work()
            done.signal()
        }
        inbox.condition.signal()
        inbox.condition.unlock()
        done.wait()
        guard let value = answer.value else { preconditionFailure("the job has run") }
        return value
    }

    /// Unchecked: written before the semaphore is signalled and read after.
    private final class Answer<Value>: @unchecked Sendable {
        var value: Value?
    }

    private static func spawnHere(
        _ program: String, _ arguments: [String], environment: [String: String],
        descriptors: [Int32?]
    ) -> Result<Int32, ChildProcess.Failure> {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (target, source) in descriptors.enumerated() {
            if let source {
                posix_spawn_file_actions_adddup2(&actions, source, Int32(target))
            } else {
                posix_spawn_file_actions_addopen(&actions, Int32(target), "/dev/null", O_RDWR, 0)
            }
        }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // The child starts with no signal blocked and none ignored, whatever this process does.
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
        posix_spawnattr_setflags(&attributes, Int16(flags))
        let argv = ([program] + arguments).map { strdup($0) }
        let envp = environment.map { strdup("\($0)=\($1)") }
        defer { (argv + envp).forEach { free($0) } }
        var pid: Int32 = 0
        let code = posix_spawnp(&pid, program, &actions, &attributes, argv + [nil], envp + [nil])
        return code == 0 ? .success(pid) : .failure(.cannotStart(errno: code))
    }
}
