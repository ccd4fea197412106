import Glibc

/// A file that a person has named for what a command makes: it is there whole or not at all.
///
/// - A plain file is replaced in one step and keeps its mode, owner and group; a new one is for its
///   owner alone.
/// - Pipes and character devices are written to as they are; folders, sockets and block devices are
///   refused.
/// - Links are followed, never replaced.
///
/// Root may be the one who writes, so what another user could have put there is not trusted: see
/// `refuseStranger` and `target(ofLink:)`.
package struct OutputFile: Sendable {
    private let path: String

    private static let linkLimit = 40
    /// Of a new file.
    private static let ownMode: mode_t = 0o600

    package init(_ path: String) { self.path = path }

    private enum Place {
        case new(String)
        case plain(String, stat)
        /// A pipe or a device.
        case special(String)
        /// What `/proc/self/fd` lists: an open file, which has perhaps no name.
        case open(String)
    }

    package func write(_ text: String) throws(WriteFailure) {
        let bytes = Array(text.utf8)
        switch try place() {
        case .new(let path): try replace(path, like: nil, with: bytes)
        case .plain(let path, let status): try replace(path, like: status, with: bytes)
        case .special(let path): try write(bytes, into: path, O_NOFOLLOW)
        case .open(let path):
            if StandardStream.output.isFile(at: path) {
                return try StandardStream.output.write(text)
            }
            try write(bytes, into: path, O_TRUNC)
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

    // MARK: Writing it

    private func write(
        _ bytes: [UInt8], into path: String, _ flags: Int32
    ) throws(WriteFailure) {
        let file = Glibc.open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | flags)
        guard file >= 0 else { throw WriteFailure(errno) }
        var status = stat()
        // It may have been replaced since it was looked at.
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT != S_IFBLK else {
            Glibc.close(file)
            throw .failed(reason: "another program replaced it meanwhile")
        }
        do throws(WriteFailure) {
            try Descriptor(file).write(bytes)
        } catch {
            Glibc.close(file)
            throw error
        }
        guard Glibc.close(file) == 0 else { throw WriteFailure(errno) }
    }

    /// Writes beside it, then takes its place. What was there stays until the new one is whole.
    private func replace(
        _ path: String, like old: stat?, with bytes: [UInt8]
    ) throws(WriteFailure) {
        if old != nil, faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) != 0 {
            throw WriteFailure(errno)
        }
        var name = Array("\(Self.folder(of: path))/.renewald-XXXXXX".utf8CString)
        let file = mkstemp(&name)
        guard file >= 0 else { throw WriteFailure(errno) }
        do throws(WriteFailure) {
            defer { Glibc.close(file) }
            try Descriptor(file).write(bytes)
            guard fchmod(file, Self.mode(of: file, like: old)) == 0, fsync(file) == 0 else {
                throw WriteFailure(errno)
            }
            guard rename(name, path) == 0 else { throw WriteFailure(errno) }
        } catch {
            unlink(name)
            throw error
        }
    }

    /// Gives the file the owner and the group of the old one as far as we may.
    ///
    /// - Returns: its mode; without the group's part where that would be another group.
    private static func mode(of file: Int32, like old: stat?) -> mode_t {
        guard let old else { return ownMode }
        let mode = old.st_mode & 0o777
        let anyOwner = uid_t.max
        let isSameGroup =
            fchown(file, old.st_uid, old.st_gid) == 0 || fchown(file, anyOwner, old.st_gid) == 0
        return isSameGroup ? mode : mode & 0o707
    }
}
