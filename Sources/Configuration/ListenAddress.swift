/// Where a server of ours listens: an IP address and a port.
package struct ListenAddress: Hashable, Sendable, CustomStringConvertible {
    /// An IPv4 address, or an IPv6 address without its brackets.
    package let host: String
    /// 0 is any free one.
    package let port: Int

    /// Reads `127.0.0.1:9464`, `[::1]:9464` or `localhost:9464`; nil for anything else.
    package init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":") else { return nil }
        let digits = text[text.index(after: colon)...]
        guard Self.areDigits(digits), let port = UInt16(digits) else { return nil }
        var host = text[..<colon]
        if host == "localhost" { host = "127.0.0.1" }
        if host.first == "[", host.last == "]" {
            host = host.dropFirst().dropLast()
            guard Self.isIPv6(host) else { return nil }
        } else if !Self.isIPv4(host) {
            return nil
        }
        self.host = String(host)
        self.port = Int(port)
    }

    package var isLoopback: Bool { host.hasPrefix("127.") || host == "::1" }

    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    private static func isIPv4(_ host: Substring) -> Bool {
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts.allSatisfy { areDigits($0) && UInt8($0) != nil }
    }

    private static func areDigits(_ text: Substring) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
    }

    private static func isIPv6(_ host: Substring) -> Bool {
        host.contains(":") && host.allSatisfy { $0.isHexDigit || $0 == ":" || $0 == "." }
    }
}
