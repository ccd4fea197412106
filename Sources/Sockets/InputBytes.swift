import Glibc

/// A file, or standard input, that is read in pieces.
package struct InputBytes: Sendable {
    private let descriptor: Int32
    /// Nil of what cannot be read twice, such as a pipe.
    package let size: Int64?

    /// - Parameter path: `-` is standard input.
    /// - Throws: why it cannot be read.
    package init(_ path: String) throws(ReadFailure) {
        let number =
            path == "-"
            ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
        guard number >= 0 else { throw ReadFailure(errno) }
        var status = stat()
        guard fstat(number, &status) == 0, status.st_mode & S_IFMT != S_IFDIR else {
            let code = status.st_mode & S_IFMT == S_IFDIR ? EISDIR : errno
            Glibc.close(number)
            throw ReadFailure(code)
        }
        descriptor = number
        size = status.st_mode & S_IFMT == S_IFREG ? Int64(status.st_size) : nil
    }

    /// The next bytes, as many as asked for at most; none at the end.
    package func read(atMost count: Int) throws(ReadFailure) -> [UInt8] {
        var code: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            repeat {
                let got = Glibc.read(descriptor, buffer.baseAddress, count)
                (filled, code) = (max(got, 0), got < 0 ? errno : 0)
            } while code == EINTR
        }
        guard code == 0 else { throw ReadFailure(code) }
        return bytes
    }

    /// Goes on from a byte of the file.
    package func go(to place: Int64) throws(ReadFailure) {
        guard lseek(descriptor, off_t(place), SEEK_SET) == off_t(place) else {
            throw ReadFailure(errno)
        }
    }

    func isFile(_ other: stat) -> Bool {
        var own = stat()
        return fstat(descriptor, &own) == 0 && own.st_dev == other.st_dev
            && own.st_ino == other.st_ino
    }

    package func close() { Glibc.close(descriptor) }
}

/// Why something cannot be read.
package struct ReadFailure: Error, Hashable, Sendable {
    package let reason: String

    init(_ code: Int32) {
        reason =
            switch code {
            case ENOENT: "it does not exist"
            case EISDIR: "it is a folder"
            case EACCES, EPERM: "this user may not read it"
            case EBADF: "it is closed, or open for writing only"
            default: String(cString: strerror(code))
            }
    }
}
