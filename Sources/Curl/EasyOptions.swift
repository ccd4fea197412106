import CCurl

/// Sets the options of an easy handle and keeps the first failure.
///
/// Never set: `CURLOPT_VERBOSE`, which prints credentials, and whatever would follow a redirect,
/// keep a cookie or weaken TLS. <https://curl.se/libcurl/c/curl_easy_setopt.html>
struct EasyOptions {
    private let handle: UnsafeMutableRawPointer
    private(set) var failure = CURLE_OK

    init(_ handle: UnsafeMutableRawPointer) {
        self.handle = handle
    }

    /// Who may be spoken to and how, the same for every request.
    mutating func setSafety(plain: Bool, multiplexes: Bool) {
        set(CURLOPT_PROTOCOLS_STR, plain ? "http,https" : "https")
        set(CURLOPT_REDIR_PROTOCOLS_STR, "https")
        set(CURLOPT_FOLLOWLOCATION, 0)
        set(CURLOPT_SSL_VERIFYPEER, 1)
        set(CURLOPT_SSL_VERIFYHOST, 2)
        set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        // The proxy variables of the environment are not for a service.
        set(CURLOPT_PROXY, "")
        set(CURLOPT_NOPROXY, "*")
        set(CURLOPT_NETRC, Int(CURL_NETRC_IGNORED.rawValue))
        // Signals belong to the program, and the thread has SIGPIPE blocked.
        set(CURLOPT_NOSIGNAL, 1)
        // A burst waits for the first connection to say whether it takes many requests at once.
        set(
            CURLOPT_HTTP_VERSION,
            Int(multiplexes ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1))
        set(CURLOPT_PIPEWAIT, multiplexes ? 1 : 0)
    }

    mutating func setLimits(_ job: Job, _ configuration: CurlConfiguration) {
        set(CURLOPT_TIMEOUT_MS, job.timeLeft.milliseconds)
        set(CURLOPT_CONNECTTIMEOUT_MS, configuration.connectTimeout.milliseconds)
        set(CURLOPT_MAXLIFETIME_CONN, configuration.connectionLifetime.wholeSeconds)
        set(CURLOPT_TCP_KEEPALIVE, 1)
        // The least that libcurl takes; it keeps as much for each handle, 64 KiB otherwise.
        set(CURLOPT_UPLOAD_BUFFERSIZE, 16 * 1024)
        set(CURLOPT_USERAGENT, configuration.userAgent)
        if let file = job.request.certificateAuthorityFile {
            set(CURLOPT_CAINFO, file)
            // Else the system's folder of authorities would be trusted as well.
            set(CURLOPT_CAPATH, nil)
        }
    }

    mutating func setContent(_ request: HTTPRequest) {
        set(CURLOPT_URL, request.url)
        set(CURLOPT_PATH_AS_IS, 1)
        set(CURLOPT_ACCEPT_ENCODING, "gzip")
        set(CURLOPT_FRESH_CONNECT, request.isSentOnce ? 1 : 0)
        switch request.method {
        case .get:
            set(CURLOPT_HTTPGET, 1)
        case .post, .put:
            set(CURLOPT_POST, 1)
            if request.method == .put { set(CURLOPT_CUSTOMREQUEST, request.method.rawValue) }
            (request.body ?? []).withUnsafeBytes { bytes in
                note(renewald_curl_set_body(handle, bytes.baseAddress, bytes.count))
            }
        }
    }

    /// - Parameter list: must outlive the transfer.
    mutating func setHeaders(_ list: UnsafeMutablePointer<curl_slist>?) {
        note(renewald_curl_set_headers(handle, list))
    }

    /// - Parameter context: a `Transfer`, which must outlive the transfer.
    mutating func setReceivers(_ context: UnsafeMutableRawPointer) {
        note(renewald_curl_set_pointer(handle, CURLOPT_PRIVATE, context))
        note(renewald_curl_set_pointer(handle, CURLOPT_WRITEDATA, context))
        note(renewald_curl_set_pointer(handle, CURLOPT_HEADERDATA, context))
        note(renewald_curl_set_receiver(handle, CURLOPT_WRITEFUNCTION, bodyReceiver))
        note(renewald_curl_set_receiver(handle, CURLOPT_HEADERFUNCTION, headerReceiver))
    }

    private mutating func set(_ option: CURLoption, _ value: Int) {
        note(renewald_curl_set_long(handle, option, value))
    }

    private mutating func set(_ option: CURLoption, _ value: String?) {
        note(renewald_curl_set_text(handle, option, value))
    }

    private mutating func note(_ code: CURLcode) {
        if failure == CURLE_OK { failure = code }
    }
}
