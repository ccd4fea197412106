import Sockets

/// The file of bad lines: as they stand, under the header of the file that they come from, so that
/// it can be mended and imported.
struct RejectsFile: Sendable {
    private let file: GrowingFile
    private let header: [UInt8]

    /// - Parameters:
    ///   - path: of the file.
    ///   - length: how much of it an earlier run has left; nil where this one begins anew.
    ///   - input: what is read, which must be another file.
    ///   - header: of that.
    /// - Throws: why it cannot be written.
    init(
        _ path: String, from length: Int64?, of input: InputBytes, header: [UInt8]
    ) throws(WriteFailure) {
        file = try GrowingFile(path, keeping: length, besides: input)
        self.header = header
    }

    /// Adds lines behind so many bytes, over all that was there, and has them stored: what is
    /// committed next says how long the file is.
    ///
    /// - Returns: how long the file is now.
    func add(_ lines: [[UInt8]], after length: Int64) throws(WriteFailure) -> Int64 {
        try file.cut(to: length)
        guard !lines.isEmpty else { return length }
        let bytes = (length == 0 ? header : []) + lines.joined()
        try file.add(bytes)
        try file.sync()
        return length + Int64(bytes.count)
    }

    func close() throws(WriteFailure) { try file.close() }
}
