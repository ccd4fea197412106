import CCurl
import Glibc

/// Why a request has no answer, sorted by what the caller must do next.
///
/// Reasons are fixed phrases of ours. libcurl's own messages are never used: they hold host names
/// and addresses.
package enum CurlError: Error, Hashable, Sendable {
    /// Name, connection, TLS or HTTP trouble, or no time left. Try again later. A server is
    /// untrusted whose certificate no known authority has signed. A request is unsent of which not
    /// a byte has left: the server cannot know of it.
    case unreachable(reason: String, isUntrusted: Bool = false, isUnsent: Bool = false)
    /// The decompressed body is longer than the request allowed. Asking again will not help.
    case tooLarge(limitBytes: Int)
    /// The request cannot be sent: its URL is not `https` (or `http` where that is allowed) or
    /// cannot be parsed, or a header holds a line break. Mend the configuration.
    case refusedURL(reason: String)
    /// The task was cancelled, or the client is closed.
    case cancelled
    /// It was not sent: the time by which it was to start has passed.
    case late
}

extension CurlError {
    /// The error of a transfer that ended with `code`, which is not `CURLE_OK`.
    init(_ code: CURLcode, of transfer: Transfer) {
        let handle = transfer.handle
        self =
            switch code {
            case CURLE_URL_MALFORMAT:
                .refusedURL(reason: "not a URL")
            case CURLE_COULDNT_CONNECT:
                .unreachable(reason: Self.connectReason(handle), isUnsent: true)
            case CURLE_PEER_FAILED_VERIFICATION:
                Self.certificateFault(handle)
            default:
                .unreachable(reason: Self.reason(code), isUnsent: transfer.isUnsent)
            }
    }

    private static func reason(_ code: CURLcode) -> String {
        switch code {
        case CURLE_OPERATION_TIMEDOUT: timedOut
        case CURLE_COULDNT_RESOLVE_HOST: "name not resolved"
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER, CURLE_SSL_ISSUER_ERROR:
            "TLS handshake failed"
        case CURLE_SSL_CACERT_BADFILE: "certificate authority file not readable"
        case CURLE_HTTP2, CURLE_HTTP2_STREAM: "HTTP/2 trouble"
        case CURLE_GOT_NOTHING: "closed without an answer"
        case CURLE_SEND_ERROR, CURLE_RECV_ERROR: "connection broken"
        case CURLE_PARTIAL_FILE: "answer cut short"
        case CURLE_BAD_CONTENT_ENCODING: "answer cannot be decompressed"
        // The scheme was checked before, so this is an answer without a status line.
        case CURLE_WEIRD_SERVER_REPLY, CURLE_UNSUPPORTED_PROTOCOL: "not an HTTP answer"
        case CURLE_OUT_OF_MEMORY: "out of memory"
        default: "transfer failed with curl code \(code.rawValue)"
        }
    }

    private static func connectReason(_ handle: UnsafeMutableRawPointer) -> String {
        switch number(CURLINFO_OS_ERRNO, of: handle) {
        case Int(ECONNREFUSED): "connection refused"
        case Int(ENETUNREACH), Int(EHOSTUNREACH): "no route to the host"
        default: "not connected"
        }
    }

    /// By OpenSSL's verify results, <https://docs.openssl.org/3.0/man3/X509_STORE_CTX_get_error>.
    private static func certificateFault(_ handle: UnsafeMutableRawPointer) -> CurlError {
        switch number(CURLINFO_SSL_VERIFYRESULT, of: handle) {
        // 1 is what libcurl leaves when the chain holds and its own check of the name fails.
        case 0, 1, 62:
            .unreachable(reason: "TLS certificate is for another name", isUnsent: true)
        case 9: .unreachable(reason: "TLS certificate not valid yet", isUnsent: true)
        case 10: .unreachable(reason: "TLS certificate expired", isUnsent: true)
        default:
            .unreachable(reason: "TLS certificate not trusted", isUntrusted: true, isUnsent: true)
        }
    }

    private static func number(_ info: CURLINFO, of handle: UnsafeMutableRawPointer) -> Int {
        var value = 0
        return renewald_curl_get_long(handle, info, &value) == CURLE_OK ? value : -1
    }

    static let timedOut = "timed out"
}
