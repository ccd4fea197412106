internal import CCurl

/// The libcurl that is linked.
package enum CurlLibrary {
    /// With the libraries that it uses itself: `libcurl/7.88.1 OpenSSL/3.0.17 zlib/1.2.13 …`.
    package static var version: String { String(cString: curl_version()) }
}
