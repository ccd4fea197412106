import Glibc

/// Lets a command that root starts on a packaged host run as the daemon does: as its user, with the
/// credentials that the service manager would hand to it. Peer authentication then works, and what
/// the command sees is what the daemon sees.
package enum ServiceUser {
    /// Why the command could not be started.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// Starts this program again as the user, and waits for it.
    ///
    /// - Parameters:
    ///   - name: of the user.
    ///   - credentials: the folder whose files are handed on, as `LoadCredential=` would: copies
    ///     that only the user can read, for as long as the command runs.
    ///   - arguments: of the command.
    /// - Returns: its exit code; nil where this is not root or there is no such user.
    /// - Throws: the step that failed, in words.
    package static func run(
        as name: String, credentials: String, arguments: [String]
    ) throws(Failure) -> Int32? {
        guard geteuid() == 0, let user = getpwnam(name)?.pointee else { return nil }
        let folder = try copies(of: credentials, for: user)
        defer { remove(folder) }
        setenv("CREDENTIALS_DIRECTORY", folder, 1)
        // By its path: in setpriv the link would name setpriv.
        guard let program = realpath("/proc/self/exe", nil) else {
            throw Failure(description: "the program is not found: \(sentence(of: errno))")
        }
        defer { free(program) }
        let words =
            [
                "setpriv", "--reuid=\(user.pw_uid)", "--regid=\(user.pw_gid)", "--init-groups",
                "--", String(cString: program),
            ] + arguments
        var list = words.map { strdup($0) } + [nil]
        defer { list.forEach { free($0) } }
        // An interrupt reaches both, a request to stop is passed on; what was copied is removed
        // after the command has ended.
        signal(SIGINT, SIG_IGN)
        signal(SIGTERM) { number in _ = kill(startedProcess, number) }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var defaults = sigset_t()
        sigemptyset(&defaults)
        sigaddset(&defaults, SIGINT)
        sigaddset(&defaults, SIGTERM)
        posix_spawnattr_setsigdefault(&attributes, &defaults)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))
        let fault = posix_spawnp(&startedProcess, "setpriv", nil, &attributes, &list, environ)
        guard fault == 0 else { throw Failure(description: "setpriv: \(sentence(of: fault))") }
        var status: Int32 = 0
        while waitpid(startedProcess, &status, 0) < 0, errno == EINTR {}
        let signal = status & 0x7f
        return signal == 0 ? (status >> 8) & 0xff : 128 + signal
    }

    /// A folder in memory that the user owns, with copies of the files.
    private static func copies(of source: String, for user: passwd) throws(Failure) -> String {
        var template = Array("/run/renewald-command-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw Failure(description: "no folder can be made in /run: \(sentence(of: errno))")
        }
        let folder = String(
            decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        chown(folder, user.pw_uid, user.pw_gid)
        for name in files(in: source) {
            guard let bytes = contents(of: "\(source)/\(name)") else { continue }
            let copy = open("\(folder)/\(name)", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o400)
            guard copy >= 0 else { continue }
            _ = bytes.withUnsafeBytes { write(copy, $0.baseAddress, $0.count) }
            fchown(copy, user.pw_uid, user.pw_gid)
            close(copy)
        }
        return folder
    }

    private static func files(in folder: String) -> [String] {
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names
    }

    /// Nil for what is no plain file or larger than any secret.
    private static func contents(of path: String) -> [UInt8]? {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            status.st_size <= sizeLimitBytes
        else { return nil }
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        let count = bytes.withUnsafeMutableBytes { read(file, $0.baseAddress, $0.count) }
        return count == bytes.count ? bytes : nil
    }

    private static let sizeLimitBytes = 1 << 20

    private static func remove(_ folder: String) {
        for name in files(in: folder) { unlink("\(folder)/\(name)") }
        rmdir(folder)
    }

    private static func sentence(of code: Int32) -> String { String(cString: strerror(code)) }
}

/// Written once, before the signal that it is for can come; 0 would be the whole group.
nonisolated(unsafe) private var startedProcess = pid_t.max
