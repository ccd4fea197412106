import Foundation
import Logging
import Synchronization

@testable import Daemon

/// A socket that is read as the journal reads its own.
final class FakeJournal: Sendable {
    let path: String
    private let descriptor: Int32
    private let isClosed = Mutex(false)

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// How long an entry is waited for.
    private static let limitSeconds = 30

    init(path: String = "/tmp/rw-journal-\(UUID().uuidString)") throws {
        self.path = path
        unlink(path)
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length)
            }
        }
        guard result == 0 else { throw Failure(description: "bind: \(errno)") }
        var limit = timeval(tv_sec: Self.limitSeconds, tv_usec: 0)
        setsockopt(
            descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close() }

    func close() {
        isClosed.withLock { isClosed in
            guard !isClosed else { return }
            isClosed = true
            Glibc.close(descriptor)
            unlink(path)
        }
    }

    func logger(identity: String?, stream: String?, level: Logger.Level = .info) -> Logger {
        Logger(label: "test") { _ in
            LogOutput(
                level: level, environment: stream.map { ["JOURNAL_STREAM": $0] } ?? [:],
                identity: identity, journalSocket: self.path)
        }
    }

    var isEmpty: Bool {
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, Int32(MSG_DONTWAIT) | Int32(MSG_PEEK)) < 0
    }

    /// The next entry's fields.
    func receive() throws -> [String: String] {
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        var control = [UInt8](repeating: 0, count: 64)
        let (count, passed) = bytes.withUnsafeMutableBytes { buffer in
            control.withUnsafeMutableBytes { controlBuffer in
                var part = iovec(iov_base: buffer.baseAddress, iov_len: buffer.count)
                return withUnsafeMutablePointer(to: &part) { part in
                    var message = msghdr()
                    message.msg_iov = part
                    message.msg_iovlen = 1
                    message.msg_control = controlBuffer.baseAddress
                    message.msg_controllen = controlBuffer.count
                    let count = recvmsg(descriptor, &message, 0)
                    let passes = message.msg_controllen >= 20
                    return (
                        count, passes ? controlBuffer.load(fromByteOffset: 16, as: Int32.self) : -1
                    )
                }
            }
        }
        guard count >= 0 else { throw Failure(description: "recvmsg: \(errno)") }
        guard passed >= 0 else { return Self.fields(Array(bytes[..<count])) }
        let file = FileHandle(fileDescriptor: passed, closeOnDealloc: true)
        try file.seek(toOffset: 0)
        return Self.fields(Array(try file.readToEnd() ?? Data()))
    }

    private static func fields(_ bytes: [UInt8]) -> [String: String] {
        var fields: [String: String] = [:]
        var rest = bytes[...]
        let lineFeed = UInt8(ascii: "\n")
        while let end = rest.firstIndex(of: lineFeed) {
            let line = rest[..<end]
            rest = rest[(end + 1)...]
            if let equals = line.firstIndex(of: UInt8(ascii: "=")) {
                fields[text(line[..<equals])] = text(line[(equals + 1)...])
            } else {
                let length = rest.prefix(8).reversed().reduce(0) { $0 << 8 | Int($1) }
                fields[text(line)] = text(rest.dropFirst(8).prefix(length))
                rest = rest.dropFirst(8 + length + 1)
            }
        }
        return fields
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        String(decoding: bytes, as: UTF8.self)
    }
}
