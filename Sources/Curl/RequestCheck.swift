extension HTTPRequest {
    /// Refuses what libcurl must not see.
    ///
    /// A NUL would cut a C string short and a line break would start another header.
    ///
    /// - Throws: `.refusedURL`.
    func check() throws(CurlError) {
        guard hasAllowedScheme else {
            throw .refusedURL(reason: allowsPlainHTTP ? "neither https nor http" : "not https")
        }
        guard url.hasOnly({ $0 > 0x20 && $0 != 0x7f }) else {
            throw .refusedURL(reason: "not percent-encoded")
        }
        guard headers.allSatisfy(\.isOneLine) else {
            throw .refusedURL(reason: "a header holds a control character")
        }
    }

    /// Whether the URL is `http`, with the scheme in any case.
    var isPlain: Bool { starts(with: "http://") }

    private var hasAllowedScheme: Bool {
        starts(with: "https://") || (allowsPlainHTTP && isPlain)
    }

    private func starts(with scheme: StaticString) -> Bool {
        let wanted = UnsafeBufferPointer(
            start: scheme.utf8Start, count: scheme.utf8CodeUnitCount)
        return url.utf8.starts(with: wanted) { $0 == $1 || ($0 >= 0x41 && $0 | 0x20 == $1) }
    }
}

extension HTTPHeader {
    fileprivate var isOneLine: Bool {
        !name.isEmpty && name.hasOnly { $0 > 0x20 && $0 != 0x3a && $0 < 0x7f }
            && value.hasOnly { ($0 >= 0x20 || $0 == 0x09) && $0 != 0x7f }
    }

    func isNamed(_ other: StaticString) -> Bool {
        let wanted = UnsafeBufferPointer(start: other.utf8Start, count: other.utf8CodeUnitCount)
        return name.utf8.elementsEqual(wanted) { $0 == $1 || ($0 >= 0x41 && $0 | 0x20 == $1) }
    }
}

extension String {
    /// Whether each byte is one of these. Over the bytes in memory: a header is long, and looked
    /// through at each call.
    fileprivate func hasOnly(_ isAllowed: (UInt8) -> Bool) -> Bool {
        let bytes = utf8Span.span
        return bytes.indices.allSatisfy { isAllowed(bytes[$0]) }
    }
}
