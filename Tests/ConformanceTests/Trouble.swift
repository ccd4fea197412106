import Curl
import TestSupport

/// What every store may do instead of answering: `500`, `429 retry=120`, `timeout`, `html`,
/// `truncated`, `empty`, `redirect`.
struct Trouble {
    let result: Result<HTTPResponse, CurlError>

    /// Nil when the cell names an answer. `whole` is what the answer would have been, for one that
    /// is cut off; `body` is the store's own text for an HTTP status and the reason that the cell
    /// names.
    init?(_ words: Words, insteadOf whole: String, body: (Int, String?) -> String) throws {
        switch words.plain.first {
        case "timeout":
            result = .failure(.unreachable(reason: "time-out"))
        case "html":
            result = .success(
                HTTPResponse(
                    status: 200, contentType: "text/html",
                    body: Array("<html><body>Bad gateway</body></html>".utf8)))
        case "truncated":
            result = .success(.json(String(whole.prefix(whole.count / 2))))
        case "empty":
            result = .success(.json(""))
        case "redirect":
            result = .success(HTTPResponse(status: 302))
        case let word?:
            guard let status = Int(word), (300..<600).contains(status) else { return nil }
            result = .success(
                .json(body(status, words["reason"]), status: status, retryAfter: words["retry"]))
        case nil:
            return nil
        }
    }
}

extension HTTPResponse {
    static func json(_ text: String, status: Int = 200, retryAfter: String? = nil) -> HTTPResponse {
        HTTPResponse(
            status: status, contentType: "application/json", retryAfter: retryAfter,
            body: Array(text.utf8))
    }

    static func json(_ bytes: [UInt8]) -> HTTPResponse {
        HTTPResponse(status: 200, contentType: "application/json", body: bytes)
    }
}
