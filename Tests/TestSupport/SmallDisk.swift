import Foundation

/// A file system in memory for a part of a server, to be filled up. The server's guardian unmounts
/// it, also when the test process crashes.
package enum SmallDisk: Sendable {
    /// Holds the databases of the tests.
    case data
    /// Holds the write-ahead log.
    case log

    /// Whether this process may mount one; says so where it may not.
    package static let isPossible: Bool = {
        var template = Array("/tmp/rw-mount-XXXXXX".utf8CString)
        guard let folder = mkdtemp(&template).map({ String(cString: $0) }) else { return false }
        defer { rmdir(folder) }
        guard Glibc.mount("tmpfs", folder, "tmpfs", 0, "size=1m") == 0 else {
            print("skipped: file systems cannot be mounted here, errno \(errno)")
            return false
        }
        umount2(folder, 0)
        return true
    }()

    var hasData: Bool {
        switch self {
        case .data: true
        case .log: false
        }
    }

    static func folder(in folder: String) -> String { "\(folder)/disk" }

    func mount(in folder: String, for account: (uid: UInt32, gid: UInt32)?) throws {
        let place = Self.folder(in: folder)
        mkdir(place, 0o700)
        let owner = account.map { ",uid=\($0.uid),gid=\($0.gid)" } ?? ""
        let options = "size=\(hasData ? 48 : 24)m,mode=0700\(owner)"
        guard Glibc.mount("tmpfs", place, "tmpfs", 0, options) == 0 else {
            throw ScratchCluster.Failure(step: "mount", output: String(errno))
        }
    }

    func initialArguments(in folder: String) -> [String] {
        hasData ? [] : ["--waldir=\(Self.folder(in: folder))/log", "--wal-segsize=1"]
    }
}

extension ScratchCluster {
    /// Leaves no byte free on the small disk.
    package func fillDisk() throws {
        let file = open(ballast, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Failure(step: "open", output: String(errno)) }
        defer { close(file) }
        for size in [1 << 20, 4096] {
            let bytes = [UInt8](repeating: 0, count: size)
            while bytes.withUnsafeBytes({ write(file, $0.baseAddress, size) }) > 0 {}
        }
        guard errno == ENOSPC else { throw Failure(step: "write", output: String(errno)) }
    }

    /// Gives back what `fillDisk` took.
    package func freeDisk() { unlink(ballast) }

    private var ballast: String { "\(SmallDisk.folder(in: socketDirectory))/ballast" }

    /// Whether the server's first process is there.
    package var isRunning: Bool {
        guard let pid = try? serverPID() else { return false }
        return Glibc.kill(pid, 0) == 0
    }
}
