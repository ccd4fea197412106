import CCurl

/// One easy handle with what its present transfer has received. Used by the loop's thread only.
///
/// It is used again and again: a reset handle keeps its TLS sessions.
final class Transfer {
    let handle: UnsafeMutableRawPointer
    private(set) var start: Inbox.Start
    private var head = ResponseHead()
    private var body: [UInt8] = []
    private var isTooLarge = false
    private var headerList: UnsafeMutablePointer<curl_slist>?

    /// - Throws: when libcurl has no memory.
    init(_ start: Inbox.Start) throws(CurlError) {
        guard let handle = curl_easy_init() else {
            throw .unreachable(reason: "out of memory", isUnsent: true)
        }
        self.handle = handle
        self.start = start
    }

    deinit {
        curl_easy_cleanup(handle)
        curl_slist_free_all(headerList)
    }

    /// The transfer that a message of the multi handle is about.
    static func of(_ handle: UnsafeMutableRawPointer) -> Transfer? {
        var context: UnsafeMutableRawPointer?
        guard renewald_curl_get_pointer(handle, CURLINFO_PRIVATE, &context) == CURLE_OK else {
            return nil
        }
        return context.map { Unmanaged<Transfer>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Makes the handle ready to be added to the multi handle.
    func prepare(
        _ start: Inbox.Start, _ configuration: CurlConfiguration, multiplexes: Bool
    ) throws(CurlError) {
        self.start = start
        let request = start.job.request
        headerList = Self.list(request)
        var options = EasyOptions(handle)
        options.setSafety(plain: request.isPlain, multiplexes: multiplexes)
        options.setLimits(start.job, configuration)
        options.setContent(request)
        options.setHeaders(headerList)
        options.setReceivers(Unmanaged.passUnretained(self).toOpaque())
        guard options.failure == CURLE_OK else { throw CurlError(options.failure, of: self) }
    }

    /// Forgets the present transfer, which must be off the multi handle.
    func reset() {
        curl_easy_reset(handle)
        curl_slist_free_all(headerList)
        headerList = nil
        head = ResponseHead()
        body = []
        isTooLarge = false
    }

    /// What the caller hears when libcurl says that the transfer is done.
    func answer(_ code: CURLcode) -> Answer {
        guard !isTooLarge else {
            return .failure(.tooLarge(limitBytes: start.job.request.bodyLimitBytes))
        }
        guard code == CURLE_OK else { return .failure(CurlError(code, of: self)) }
        var status = 0
        renewald_curl_get_long(handle, CURLINFO_RESPONSE_CODE, &status)
        return .success(
            HTTPResponse(
                status: status, contentType: head.contentType, retryAfter: head.retryAfter,
                date: head.date, requestID: head.requestID, body: body))
    }

    // MARK: For the C callbacks

    /// - Returns: false to abort the transfer.
    fileprivate func receiveBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let limit = start.job.request.bodyLimitBytes
        guard bytes.count <= limit - body.count else {
            isTooLarge = true
            return false
        }
        if body.isEmpty, let length = head.contentLength {
            body.reserveCapacity(min(max(length, bytes.count), limit))
        }
        body.append(contentsOf: bytes)
        return true
    }

    /// - Returns: false to abort the transfer.
    fileprivate func receiveHeader(_ line: UnsafeRawBufferPointer) -> Bool {
        head.read(line)
    }

    // MARK: Headers

    private static func list(_ request: HTTPRequest) -> UnsafeMutablePointer<curl_slist>? {
        // An empty value takes a header of libcurl's own away: it would announce long bodies and
        // wait, and call every body a form.
        var list = request.method.hasBody ? curl_slist_append(nil, "Expect:") : nil
        if request.method.hasBody,
            !request.headers.contains(where: { $0.isNamed("content-type") })
        {
            list = curl_slist_append(list, "Content-Type:")
        }
        for header in request.headers {
            // "Name;" is libcurl's way to send a header without a value.
            let line = header.value.isEmpty ? "\(header.name);" : "\(header.name): \(header.value)"
            list = curl_slist_append(list, line)
        }
        return list
    }
}

/// Called by libcurl on the loop's thread, while the transfer is in flight and so alive.
let bodyReceiver: renewald_curl_receiver = { bytes, one, count, context in
    guard let bytes, let context else { return 0 }
    let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
    let size = one * count
    return transfer.receiveBody(UnsafeRawBufferPointer(start: bytes, count: size)) ? size : 0
}

/// Called as `bodyReceiver` is, with one line at a time.
let headerReceiver: renewald_curl_receiver = { bytes, one, count, context in
    guard let bytes, let context else { return 0 }
    let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
    let size = one * count
    return transfer.receiveHeader(UnsafeRawBufferPointer(start: bytes, count: size)) ? size : 0
}
