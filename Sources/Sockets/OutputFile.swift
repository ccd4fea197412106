import Glibc

/// A file that a person has named for what a command makes: it is there whole or not at all.
///
/// - A plain file is replaced in one step and keeps its mode, owner and group; a new one is for its
///   owner alone, or for all to read.
/// - Pipes and character devices are written to as they are; folders, sockets and block devices are
///   refused.
/// - Links are followed, never replaced.
///
/// Root may be the one who writes, so what another user could have put there is not trusted: see
/// `refuseStranger` and `target(ofLink:)`.
package struct OutputFile: Sendable {
    private let path: String
    /// Of a new file.
    private let freshMode: mode_t

    private static let linkLimit = 40

    /// - Parameters:
    ///   - path: of the file.
    ///   - isForAll: a new one may be read by everybody.
    package init(_ path: String, isForAll: Bool = false) {
        self.path = path
        freshMode = isForAll ? 0o644 : 0o600
    }

    private enum Place {
        case new(String)
        case plain(String, stat)
        /// A pipe or a device.
        case special(String)
        /// What `/proc/self/fd` lists: an open file, which has perhaps no name.
        case open(String)
    }

    package func write(_ text: String) throws(WriteFailure) {
        let output = try open()
        do throws(WriteFailure) {
            try output.add(text)
        } catch {
            output.abandon()
            throw error
        }
        try output.finish()
    }

    /// Opens it for one who writes piece by piece, and ends with `finish` or `abandon`.
    ///
    /// - Parameter isPrivate: it shall be for its owner alone, whatever it was before.
    /// - Returns: what is written to; nothing of it is there before `finish`.
    /// - Throws: why it cannot be written.
    package func open(isPrivate: Bool = false) throws(WriteFailure) -> Writing {
        switch try place() {
        case .new(let path): return try replacement(of: path, like: nil)
        case .plain(let path, let status):
            guard faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0 else {
                throw WriteFailure(errno)
            }
            return try replacement(of: path, like: isPrivate ? nil : status)
        case .special(let path): return Writing(try opened(path, O_NOFOLLOW))
        case .open(let path):
            // Standard output goes on where it is; another open file begins anew.
            guard !StandardStream.output.isFile(at: path) else { return Writing() }
            return Writing(try opened(path, O_TRUNC))
        }
    }

    /// A file that is being written.
    package struct Writing: Sendable {
        /// Nil is standard output, which is not ours to close.
        private let descriptor: Int32?
        /// What takes the place of a file when it is whole.
        private let replacing: Replaced?

        fileprivate init(_ descriptor: Int32? = nil, replacing: Replaced? = nil) {
            self.descriptor = descriptor
            self.replacing = replacing
        }

        package func add(_ text: String) throws(WriteFailure) {
            guard let descriptor else { return try StandardStream.output.write(text) }
            try Descriptor(descriptor).write(Array(text.utf8))
        }

        /// It is whole: from now on it is there.
        package func finish() throws(WriteFailure) {
            guard let descriptor else { return }
            guard let replacing else {
                guard Glibc.close(descriptor) == 0 else { throw WriteFailure(errno) }
                return
            }
            let isWhole =
                fchmod(descriptor, replacing.mode(of: descriptor)) == 0
                && fsync(descriptor) == 0 && rename(replacing.name, replacing.path) == 0
            let code = errno
            if !isWhole { unlink(replacing.name) }
            Glibc.close(descriptor)
            if !isWhole { throw WriteFailure(code) }
        }

        /// What was there before stays.
        package func abandon() {
            if let replacing { unlink(replacing.name) }
            if let descriptor { Glibc.close(descriptor) }
        }
    }

    // MARK: Finding it

    private func place() throws(WriteFailure) -> Place {
        var path = path
        for _ in 0..<Self.linkLimit {
            var status = stat()
            guard lstat(path, &status) == 0 else {
                guard errno == ENOENT else { throw WriteFailure(errno) }
                return .new(path)
            }
            try refuseStranger(status, at: path)
            switch status.st_mode & S_IFMT {
            case S_IFLNK:
                guard !Self.isListOfOpenFiles(Self.folder(of: path)) else { return .open(path) }
                path = try target(ofLink: path, status)
            case S_IFREG: return .plain(path, status)
            case S_IFCHR, S_IFIFO: return .special(path)
            case S_IFDIR: throw WriteFailure(EISDIR)
            default: throw .failed(reason: "it is a disk or a socket")
            }
        }
        throw WriteFailure(ELOOP)
    }

    /// Where everybody may make files, one that is neither ours nor of the folder's owner may be a
    /// trap for what we write.
    private func refuseStranger(_ status: stat, at path: String) throws(WriteFailure) {
        var folder = stat()
        guard stat(Self.folder(of: path), &folder) == 0 else { throw WriteFailure(errno) }
        let isOpenToAll = folder.st_mode & S_IWOTH != 0
        guard isOpenToAll, status.st_uid != geteuid(), status.st_uid != folder.st_uid else {
            return
        }
        throw .failed(
            reason: "\(path) belongs to another user, in a folder that everybody may write to")
    }

    /// A link is followed when it is root's or ours, or belongs to whom its target belongs: others
    /// could make us write to what is not theirs.
    private func target(ofLink path: String, _ link: stat) throws(WriteFailure) -> String {
        var name = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(path, &name, name.count)
        guard count > 0, count < name.count else { throw WriteFailure(errno) }
        let words = String(decoding: name[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
        let target = words.hasPrefix("/") ? words : "\(Self.folder(of: path))/\(words)"
        guard link.st_uid != 0, link.st_uid != geteuid() else { return target }
        var named = stat()
        let isThere = lstat(target, &named) == 0 || stat(Self.folder(of: target), &named) == 0
        guard isThere, named.st_uid == link.st_uid else {
            throw .failed(reason: "\(path) is another user's link to a file that is not theirs")
        }
        return target
    }

    /// Such as `/proc/self/fd`, to which `/dev/stdout` leads.
    private static func isListOfOpenFiles(_ folder: String) -> Bool {
        guard let real = realpath(folder, nil) else { return false }
        defer { free(real) }
        return String(cString: real).hasPrefix("/proc/")
    }

    private static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    // MARK: Opening it

    private func opened(_ path: String, _ flags: Int32) throws(WriteFailure) -> Int32 {
        let file = Glibc.open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | flags)
        guard file >= 0 else { throw WriteFailure(errno) }
        var status = stat()
        // It may have been replaced since it was looked at.
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT != S_IFBLK else {
            Glibc.close(file)
            throw .failed(reason: "another program replaced it meanwhile")
        }
        return file
    }

    /// A file beside it, which takes its place. What was there stays until the new one is whole.
    private func replacement(of path: String, like old: stat?) throws(WriteFailure) -> Writing {
        var name = Array("\(Self.folder(of: path))/.renewald-XXXXXX".utf8CString)
        let file = mkstemp(&name)
        guard file >= 0 else { throw WriteFailure(errno) }
        return Writing(
            file, replacing: Replaced(name: name, path: path, old: old, freshMode: freshMode))
    }
}

/// What a new file takes the place of.
private struct Replaced: Sendable {
    /// Of the new one, as long as it is not whole.
    let name: [CChar]
    let path: String
    let old: stat?
    let freshMode: mode_t

    /// Gives the file the owner and the group of the old one as far as we may.
    ///
    /// - Returns: its mode; without the group's part where that would be another group.
    func mode(of file: Int32) -> mode_t {
        guard let old else { return freshMode }
        let mode = old.st_mode & 0o777
        let anyOwner = uid_t.max
        let isSameGroup =
            fchown(file, old.st_uid, old.st_gid) == 0 || fchown(file, anyOwner, old.st_gid) == 0
        return isSameGroup ? mode : mode & 0o707
    }
}
