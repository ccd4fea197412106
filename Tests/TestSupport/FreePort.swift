import Glibc

/// A port of loopback that nobody listens on.
package enum FreePort {
    private struct NoPort: Error {
        let errno: Int32
    }

    package static func next() throws -> UInt16 {
        let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { general in
                bind(socket, general, length) == 0 && getsockname(socket, general, &length) == 0
            }
        }
        guard bound else { throw NoPort(errno: errno) }
        return UInt16(bigEndian: address.sin_port)
    }
}
