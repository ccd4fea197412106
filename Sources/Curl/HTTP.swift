/// The methods that the stores' interfaces need.
package enum HTTPMethod: String, Hashable, Sendable {
    case get = "GET"
    case post = "POST"
    case put = "PUT"

    var hasBody: Bool { self != .get }
}

/// One field of a request's head. Its value may be a credential, so only its name is ever shown.
package struct HTTPHeader: Hashable, Sendable {
    package let name: String
    package let value: String

    /// - Parameters:
    ///   - name: such as `Authorization`.
    ///   - value: without line breaks.
    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// A request as a value. Everything in it but the method may be secret, so only that is shown.
package struct HTTPRequest: Sendable {
    package var method: HTTPMethod

    /// The whole address, already percent-encoded. It is sent as it is.
    package var url: String

    package var headers: [HTTPHeader]

    /// Not sent with `.get`; `nil` is an empty body.
    package var body: [UInt8]?

    /// Takes a connection of its own. On one that was used before and breaks, libcurl would send
    /// the request again by itself.
    package var isSentOnce = false

    /// Later it is not sent; nil is at any time.
    package var startsBy: ContinuousClock.Instant?

    /// From the call of `send` to the last byte of the answer's body.
    package var deadline: Duration

    /// The longest body that is accepted, counted after decompression.
    package var bodyLimitBytes: Int

    /// A PEM file of the only authorities to trust; `nil` is the system's.
    package var certificateAuthorityFile: String?

    /// Set only where a configured base URL is `http`.
    package var allowsPlainHTTP: Bool

    /// A request with the limits that suit a store's interface.
    package init(
        method: HTTPMethod = .get,
        url: String,
        headers: [HTTPHeader] = [],
        body: [UInt8]? = nil,
        deadline: Duration = .seconds(15),
        bodyLimitBytes: Int = 4 << 20,
        certificateAuthorityFile: String? = nil,
        allowsPlainHTTP: Bool = false
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.deadline = deadline
        self.bodyLimitBytes = bodyLimitBytes
        self.certificateAuthorityFile = certificateAuthorityFile
        self.allowsPlainHTTP = allowsPlainHTTP
    }
}

/// An answer as a value, whatever its status. Its body may hold receipts, so only its size is
/// shown.
package struct HTTPResponse: Sendable {
    /// The status of the last response: 1xx ones are skipped, 3xx ones are given back.
    package let status: Int

    /// Lower-cased, with its parameters, such as `application/json; charset=utf-8`.
    package let contentType: String?

    /// The raw text of `Retry-After`: each store has a dialect of its own.
    package let retryAfter: String?

    /// The raw text of `Date`.
    package let date: String?

    /// `x-apple-request-uuid` or `x-request-id`, for a support case at the store.
    package let requestID: String?

    /// Decompressed.
    package let body: [UInt8]

    /// An answer made by hand, for tests and fakes of the transport.
    package init(
        status: Int,
        contentType: String? = nil,
        retryAfter: String? = nil,
        date: String? = nil,
        requestID: String? = nil,
        body: [UInt8] = []
    ) {
        self.status = status
        self.contentType = contentType
        self.retryAfter = retryAfter
        self.date = date
        self.requestID = requestID
        self.body = body
    }
}

// What is shown of a value, by `print`, `dump`, string interpolation and a debugger, is the same.

extension HTTPHeader: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "\(name): ***" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: ["name": name]) }
}

extension HTTPRequest: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "\(method.rawValue) request" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: ["method": method.rawValue]) }
}

extension HTTPResponse: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "response \(status), \(body.count) bytes" }
    package var debugDescription: String { description }
    package var customMirror: Mirror {
        Mirror(self, children: ["status": status, "bodyBytes": body.count])
    }
}
