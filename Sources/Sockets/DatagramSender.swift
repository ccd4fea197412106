import CSockets
import Glibc

/// Sends datagrams to one Unix socket, without ever waiting: to the journal, to the service
/// manager.
///
/// The address is looked up anew for each datagram, so that a receiver that was restarted is found.
package final class DatagramSender: Sendable {
    package enum Outcome: Hashable, Sendable {
        case sent
        /// The receiver does not keep up. Try again later.
        case full
        /// No datagram can be so long. Send it as a file.
        case tooLong
        /// Nobody is there.
        case gone
    }

    private let descriptor: Int32
    private let address: sockaddr_un
    private let addressLength: socklen_t

    /// Wanted for the socket's buffer: a longer datagram goes as a file.
    private static let bufferBytes: Int32 = 8 << 20

    /// - Parameter path: of the socket; `@name` for an abstract one.
    package init?(path: String) {
        let name = Array(path.utf8)
        var address = sockaddr_un()
        let room = MemoryLayout.size(ofValue: address.sun_path)
        guard let first = name.first, name.count < room, !name.contains(0) else { return nil }
        let isAbstract = first == UInt8(ascii: "@")
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { bytes in
            bytes.copyBytes(from: name)
            if isAbstract { bytes[0] = 0 }
        }
        self.address = address
        // An abstract name has no end but the length; a path ends with a zero.
        addressLength = socklen_t(
            MemoryLayout.size(ofValue: address) - room + name.count + (isAbstract ? 0 : 1))
        let kind = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        descriptor = socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else { return nil }
        var size = Self.bufferBytes
        // Less is granted without the privilege, which only makes files of more datagrams.
        setsockopt(
            descriptor, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size))
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Sends the bytes as one datagram.
    package func send(_ bytes: [UInt8]) -> Outcome {
        var bytes = bytes
        return bytes.withUnsafeMutableBytes { buffer in
            var part = iovec(iov_base: buffer.baseAddress, iov_len: buffer.count)
            return withUnsafeMutablePointer(to: &part) { part in
                var message = msghdr()
                message.msg_iov = part
                message.msg_iovlen = 1
                return send(&message)
            }
        }
    }

    /// Sends an empty datagram with a sealed file in memory that holds the bytes: how the journal
    /// takes what is too long (https://systemd.io/JOURNAL_NATIVE_PROTOCOL/).
    package func sendAsFile(_ bytes: [UInt8]) -> Outcome {
        let file = renewald_memory_file("renewald-journal")
        guard file >= 0 else { return .gone }
        defer { close(file) }
        guard Self.write(bytes, to: file), fcntl(file, Self.addSeals, Self.allSeals) == 0 else {
            return .gone
        }
        return send(descriptor: file)
    }

    /// `F_ADD_SEALS` of fcntl(2), hidden from Swift like memfd_create.
    private static let addSeals: Int32 = 1033
    /// Against sealing again, shrinking, growing and writing.
    private static let allSeals: Int32 = 1 | 2 | 4 | 8

    private static func write(_ bytes: [UInt8], to file: Int32) -> Bool {
        bytes.withUnsafeBytes { buffer in
            var rest = buffer[...]
            while !rest.isEmpty {
                let whole = UnsafeRawBufferPointer(rebasing: rest)
                let count = Glibc.write(file, whole.baseAddress, whole.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return false }
                rest = rest.dropFirst(count)
            }
            return true
        }
    }

    /// The control message of cmsg(3) with one descriptor, laid out as on all 64-bit Linux.
    private struct PassedDescriptor {
        var length = MemoryLayout<cmsghdr>.size + MemoryLayout<Int32>.size
        var level = SOL_SOCKET
        var type = Int32(SCM_RIGHTS)
        var descriptor: Int32
        var padding: Int32 = 0
    }

    private func send(descriptor passed: Int32) -> Outcome {
        var control = PassedDescriptor(descriptor: passed)
        return withUnsafeMutableBytes(of: &control) { buffer in
            var message = msghdr()
            message.msg_control = buffer.baseAddress
            message.msg_controllen = buffer.count
            return send(&message)
        }
    }

    private func send(_ message: inout msghdr) -> Outcome {
        var address = self.address
        return withUnsafeMutableBytes(of: &address) { buffer in
            message.msg_name = buffer.baseAddress
            message.msg_namelen = addressLength
            let flags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)
            while sendmsg(descriptor, &message, flags) < 0 {
                switch errno {
                case EINTR: continue
                case EAGAIN: return .full
                case EMSGSIZE, ENOBUFS: return .tooLong
                default: return .gone
                }
            }
            return .sent
        }
    }
}
