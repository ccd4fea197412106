import Glibc

/// A file that a command adds to while it works, for its owner alone: a new one, or an old one from
/// some byte on.
package struct GrowingFile: Sendable {
    private let descriptor: Int32

    /// - Parameters:
    ///   - path: of the file. Links are not followed, as they may lead to what is not meant.
    ///   - length: how much of what is there has to be there; nil where nothing of it stays.
    ///   - input: another file, which is being read.
    /// - Throws: why it cannot be written.
    package init(
        _ path: String, keeping length: Int64?, besides input: InputBytes
    ) throws(WriteFailure) {
        let number = open(
            path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW, mode_t(0o600))
        guard number >= 0 else {
            throw errno == ELOOP
                ? .failed(reason: "it is a link, which is not followed") : WriteFailure(errno)
        }
        var status = stat()
        guard fstat(number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            Glibc.close(number)
            throw .failed(reason: "it is no plain file")
        }
        descriptor = number
        do throws(WriteFailure) {
            guard !input.isFile(status) else {
                throw .failed(reason: "it is the file that is read")
            }
            guard fchmod(number, mode_t(0o600)) == 0 else { throw WriteFailure(errno) }
            guard let length else {
                try cut(to: 0)
                return
            }
            guard Int64(status.st_size) >= length else {
                throw .failed(reason: "it is shorter than the run before has left it: begin anew")
            }
        } catch {
            Glibc.close(number)
            throw error
        }
    }

    package func add(_ bytes: [UInt8]) throws(WriteFailure) {
        try Descriptor(descriptor).write(bytes)
    }

    /// Takes back what is beyond that length, and goes on from there.
    package func cut(to length: Int64) throws(WriteFailure) {
        guard ftruncate(descriptor, off_t(length)) == 0,
            lseek(descriptor, off_t(length), SEEK_SET) == off_t(length)
        else { throw WriteFailure(errno) }
    }

    /// Waits until a crash of the machine leaves what was added.
    package func sync() throws(WriteFailure) {
        guard fdatasync(descriptor) == 0 else { throw WriteFailure(errno) }
    }

    package func close() throws(WriteFailure) {
        guard Glibc.close(descriptor) == 0 else { throw WriteFailure(errno) }
    }
}
