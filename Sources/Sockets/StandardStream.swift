import Glibc

/// Standard output and standard error.
package enum StandardStream: Sendable {
    case output, error

    private var descriptor: Int32 {
        switch self {
        case .output: STDOUT_FILENO
        case .error: STDERR_FILENO
        }
    }

    /// Whether a person may type on standard input.
    package static var inputIsTerminal: Bool { isatty(STDIN_FILENO) == 1 }

    package var isTerminal: Bool { isatty(descriptor) == 1 }

    /// Lines and columns of the terminal; nil where there is none.
    package var window: (lines: Int, columns: Int)? {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_row > 0, size.ws_col > 0
        else { return nil }
        return (Int(size.ws_row), Int(size.ws_col))
    }

    /// Makes sure that what is written goes to a stream or fails: to be called before any file is
    /// opened.
    ///
    /// The number of a stream that was closed at the start would be given to the next file, such as
    /// the connection to the database. A reader that has gone becomes an error and no signal.
    package static func prepare() {
        signal(SIGPIPE, SIG_IGN)
        for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) < 0 {
            // Nothing can be written to it, or read from it: it is open the other way.
            _ = open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }

    /// Writes all of it, waiting for a slow reader.
    package func write(_ text: String) throws(WriteFailure) {
        try Descriptor(descriptor).write(Array(text.utf8))
    }

    /// Ends the stream: some file systems tell only now that there was no room.
    package func close() throws(WriteFailure) {
        guard Glibc.close(descriptor) != 0, errno != EBADF else { return }
        throw WriteFailure(errno)
    }

    /// Whether it is the same file as the one at that path, all links followed.
    func isFile(at path: String) -> Bool {
        var (own, other) = (stat(), stat())
        guard fstat(descriptor, &own) == 0, stat(path, &other) == 0 else { return false }
        return own.st_dev == other.st_dev && own.st_ino == other.st_ino
    }
}

/// Why something could not be written.
package enum WriteFailure: Error, Hashable, Sendable {
    /// Nobody reads any more, as after `| head -1`: no fault of anybody's.
    case readerGone
    /// What a person has to mend, such as `no space is left`.
    case failed(reason: String)

    /// - Parameter code: an `errno`.
    init(_ code: Int32) {
        self = code == EPIPE ? .readerGone : .failed(reason: Self.words(for: code))
    }

    private static func words(for code: Int32) -> String {
        switch code {
        case ENOENT: "its folder does not exist"
        case ENOTDIR: "a part of its path is a file"
        case EISDIR: "it is a folder"
        case EACCES, EPERM, EROFS: "this user may not write there"
        case ENOSPC, EDQUOT: "no space is left there"
        case EFBIG: "the file would be too large"
        case EBADF: "it is closed, or open for reading only"
        case ELOOP: "its links form a circle"
        case ENXIO: "nobody reads its other end"
        default: String(cString: strerror(code))
        }
    }
}

/// An open file by its number.
struct Descriptor {
    private let number: Int32

    init(_ number: Int32) { self.number = number }

    /// Writes all of it, also to a pipe that is open for others without waiting.
    func write(_ bytes: [UInt8]) throws(WriteFailure) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(number, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                var wait = pollfd(fd: number, events: Int16(POLLOUT), revents: 0)
                _ = poll(&wait, 1, -1)
            } else if count == 0 || errno != EINTR {
                throw WriteFailure(count == 0 ? EIO : errno)
            }
        }
    }
}
