import Renewal

/// A piece of untrusted text as one segment of a URL's path.
struct PathSegment: Sendable {
    /// Percent-encoded.
    let text: String

    /// - Parameters:
    ///   - raw: a token or an id.
    ///   - what: names it in the error, such as `token`.
    /// - Throws: `.rejected` when it is empty, `.`, `..` or over `limitBytes` long.
    init(_ raw: String, what: StaticString) throws(StoreFailure) {
        guard !raw.isEmpty else { throw .rejected(reason: "the \(what) is empty") }
        guard raw != ".", raw != ".." else { throw .rejected(reason: "the \(what) has only dots") }
        guard raw.utf8.count <= PathSegment.limitBytes else {
            throw .rejected(reason: "the \(what) is over \(PathSegment.limitBytes) bytes long")
        }
        text = PercentEncoding.segment(raw)
    }

    /// Longer ones are refused without asking.
    static let limitBytes = 8 << 10
}
