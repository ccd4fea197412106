import Daemon
import Foundation
import Glibc
import Testing

/// What is said to the service manager, and how it gets there.
struct NotifyTests {
    @Test func aReloadIsOneDatagramWithItsTime() {
        let datagram = Notification.datagram([.reloading(microseconds: 42), .status("Reading.")])
        #expect(
            String(decoding: datagram, as: UTF8.self)
                == "RELOADING=1\nMONOTONIC_USEC=42\nSTATUS=Reading.")
    }

    @Test func aStatusStaysOneLine() {
        #expect(Notification.status("a\nREADY=1").lines == ["STATUS=a\\u{a}READY=1"])
    }

    @Test func anExtensionIsInMicroseconds() {
        #expect(
            Notification.extendTimeout(.milliseconds(15_500)).lines
                == ["EXTEND_TIMEOUT_USEC=15500000"])
    }

    @Test(arguments: ["/tmp/rw-notify-\(getpid())", "@rw-notify-\(getpid())"])
    func reachesASocket(_ address: String) async throws {
        let receiver = try Receiver(address)
        let manager = ServiceManager(environment: ["NOTIFY_SOCKET": address], processID: 1)
        #expect(manager.isThere)
        await manager.tell(.ready, .status("Serving 3 apps."))
        #expect(receiver.next() == "READY=1\nSTATUS=Serving 3 apps.")
        await manager.tell(ServiceManager.reloadingNow())
        let reload = receiver.next().split(separator: "\n")
        #expect(reload.first == "RELOADING=1")
        var clock = timespec()
        clock_gettime(CLOCK_MONOTONIC, &clock)
        let now = UInt64(clock.tv_sec) * 1_000_000 + UInt64(clock.tv_nsec) / 1000
        let told = reload.last.flatMap { UInt64($0.dropFirst("MONOTONIC_USEC=".count)) }
        #expect(try #require(told) <= now)
        #expect(try #require(told) + 600_000_000 > now, "it is the same clock")
    }

    @Test(arguments: ["", "vsock:2:1", "relative/path", "/nobody/listens/here"])
    func staysSilentWithoutASocket(_ address: String) async {
        let manager = ServiceManager(environment: ["NOTIFY_SOCKET": address], processID: 1)
        manager.mention(.watchdog)
        await manager.tell(.ready)
        #expect(!ServiceManager(environment: [:], processID: 1).isThere)
    }

    @Test func losesAPingButNotTheReadinessWhenTheManagerIsBusy() async throws {
        let address = "@rw-busy-\(getpid())"
        let receiver = try Receiver(address)
        let manager = ServiceManager(environment: ["NOTIFY_SOCKET": address], processID: 1)
        // Far more than the receiver's queue holds: none of these may wait.
        for _ in 0..<20_000 { manager.mention(.watchdog) }
        async let told: Void = manager.tell(.ready)
        var received = receiver.next()
        while received == "WATCHDOG=1" { received = receiver.next() }
        await told
        #expect(received == "READY=1")
    }

    @Test func watchesOnlyWhenItIsMeant() {
        let watched = { (environment: [String: String]) in
            ServiceManager(environment: environment, processID: 7).watchdog
        }
        #expect(watched(["WATCHDOG_USEC": "60000000"]) == .seconds(60))
        #expect(watched(["WATCHDOG_USEC": "60000000", "WATCHDOG_PID": "7"]) == .seconds(60))
        #expect(watched(["WATCHDOG_USEC": "60000000", "WATCHDOG_PID": "8"]) == nil)
        #expect(watched(["WATCHDOG_USEC": "0"]) == nil)
        #expect(watched(["WATCHDOG_USEC": "soon"]) == nil)
        #expect(watched([:]) == nil)
    }
}

/// The manager's end of the socket.
private final class Receiver {
    private let descriptor: Int32
    private let path: String

    init(_ address: String) throws {
        path = address
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        var bytes = Array(address.utf8)
        let isAbstract = address.hasPrefix("@")
        if isAbstract { bytes[0] = 0 }
        withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: bytes) }
        let length = socklen_t(
            MemoryLayout<sa_family_t>.size + bytes.count + (isAbstract ? 0 : 1))
        let code = withUnsafePointer(to: &name) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
        }
        guard code == 0 else { throw SiteFailure("bind: \(errno)") }
        // A message that never comes ends the wait.
        var limit = timeval(tv_sec: 30, tv_usec: 0)
        setsockopt(
            descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit {
        close(descriptor)
        if path.hasPrefix("/") { unlink(path) }
    }

    func next() -> String {
        var buffer = [UInt8](repeating: 0, count: 65536)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        return String(decoding: buffer.prefix(max(count, 0)), as: UTF8.self)
    }
}
