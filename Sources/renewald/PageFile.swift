import Daemon
import Explain
import Sockets

/// Where a command puts a page.
enum PageFile {
    /// Writes a page to standard output (`-`), or to a file, and says where it is.
    ///
    /// - Parameters:
    ///   - page: HTML.
    ///   - file: a path, or `-`.
    /// - Throws: `WriteFailure.readerGone`, and `ExitReason.cannotCreate` once it is told why.
    static func write(_ page: String, to file: String) throws {
        guard file != "-" else { return try Console.write(page) }
        do throws(WriteFailure) {
            try OutputFile(file).write(page)
        } catch .readerGone {
            throw WriteFailure.readerGone
        } catch .failed(let reason) {
            Console.complain("\(file): cannot be written: \(reason)")
            throw ExitReason.cannotCreate
        }
        Console.complain("the page is in \(file)")
    }
}
