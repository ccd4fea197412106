import Foundation

/// Runs a command line before any test, where nothing may be awaited yet.
package enum Shell {
    /// What a command came to.
    package struct Sight: Sendable {
        /// nil where it could not be started, or was ended by a signal.
        package let exitCode: Int32?
        package let output: String
    }

    // `Process` waits for ever at times for a child that has ended already.
    /// Runs `sh -c command` to its end; its standard error is that of this process.
    package static func run(_ command: String) -> Sight {
        guard let pipe = popen(command, "r") else { return Sight(exitCode: nil, output: "") }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while case let count = fread(&chunk, 1, chunk.count, pipe), count > 0 {
            bytes += chunk.prefix(count)
        }
        let status = pclose(pipe)
        let hasExited = status >= 0 && status & 0x7F == 0
        return Sight(
            exitCode: hasExited ? (status >> 8) & 0xFF : nil,
            output: String(decoding: bytes, as: UTF8.self))
    }
}
