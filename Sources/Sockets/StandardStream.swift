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

    package var isTerminal: Bool { isatty(descriptor) == 1 }

    /// Writes all of it, waiting for a slow reader. A reader that has gone away, such as `head`,
    /// and a full disk are no fault of ours: what cannot be written is dropped.
    package func write(_ text: String) {
        var text = text
        text.withUTF8 { buffer in
            var rest = UnsafeRawBufferPointer(buffer)[...]
            while !rest.isEmpty {
                let part = UnsafeRawBufferPointer(rebasing: rest)
                let count = Glibc.write(descriptor, part.baseAddress, part.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return }
                rest = rest.dropFirst(count)
            }
        }
    }
}
