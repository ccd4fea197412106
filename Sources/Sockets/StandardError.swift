import Glibc

/// What standard error is, and how to write to it when it is a socket.
package enum StandardError {
    /// Device and inode of a socket, as `JOURNAL_STREAM` names them: `8:1234`. Nil when it is
    /// closed, or a file, terminal or pipe, which the journal's stream never is.
    package static var socketIdentity: String? {
        var status = stat()
        guard fstat(STDERR_FILENO, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else {
            return nil
        }
        return "\(status.st_dev):\(status.st_ino)"
    }

    /// Writes to the stream of the journal: never waits, and a reader that has gone raises no
    /// signal.
    ///
    /// - Returns: whether all was written.
    @discardableResult
    package static func sendWithoutWaiting(_ bytes: [UInt8]) -> Bool {
        let flags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)
        return bytes.withUnsafeBytes { buffer in
            send(STDERR_FILENO, buffer.baseAddress, buffer.count, flags) == buffer.count
        }
    }
}
