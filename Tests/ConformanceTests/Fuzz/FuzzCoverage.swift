import Dispatch
import Foundation
import Synchronization

// The decoders for libFuzzer (`make fuzz-coverage`), which calls these functions by name. Nothing
// else does: in the tests' own bundle they only lie there.

/// What is fed: `RENEWALD_FUZZ_ONLY` is its whole name.
private let chosen = Mutex<FuzzTarget?>(nil)

/// Chooses the decoder, and writes its seeds into `RENEWALD_FUZZ_SEEDS`, one file each. Without a
/// decoder it lists them all, and ends.
@_cdecl("LLVMFuzzerInitialize")
func startsFuzzing(_ count: UnsafeMutableRawPointer?, _ arguments: UnsafeMutableRawPointer?) -> CInt
{
    let environment = ProcessInfo.processInfo.environment
    do {
        let all = try waiting { try await FuzzTargets.all() }
        guard let name = environment["RENEWALD_FUZZ_ONLY"] else {
            for target in all { print(target.name) }
            exit(0)
        }
        guard let target = all.first(where: { $0.name == name }) else {
            print("there is no decoder \(name)")
            exit(64)
        }
        if let folder = environment["RENEWALD_FUZZ_SEEDS"] {
            for (number, seed) in target.seeds.enumerated() {
                let place = URL(fileURLWithPath: folder).appendingPathComponent("seed-\(number)")
                let head = [UInt8(number & 0xFF), UInt8(number >> 8 & 0xFF)]
                try Data(head + seed).write(to: place)
            }
        }
        chosen.withLock { $0 = target }
        return 0
    } catch {
        print("the decoders cannot be made: \(error)")
        exit(70)
    }
}

/// The first two bytes are the number of the seed that the rest was made of.
@_cdecl("LLVMFuzzerTestOneInput")
func feedsOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let bytes, count >= 2, let target = chosen.withLock(\.self) else { return -1 }
    let input = Array(UnsafeBufferPointer(start: bytes, count: count))
    let number = (Int(input[0]) | Int(input[1]) << 8) % target.seeds.count
    do {
        _ = try waiting { try await target.feed(Array(input[2...]), target.seeds[number]) }
    } catch {
        fatalError("\(target.name): \(error)")
    }
    return 0
}

/// libFuzzer waits on the thread that it calls on; the work is done on another.
private func waiting<Value: Sendable>(
    for work: @escaping @Sendable () async throws -> Value
) throws -> Value {
    let done = Done<Value>()
    Task.detached { [done] in
        let result: Result<Value, any Error>
        do { result = .success(try await work()) } catch { result = .failure(error) }
        done.result.withLock { $0 = result }
        done.signal.signal()
    }
    done.signal.wait()
    guard let result = done.result.withLock(\.self) else { fatalError("nothing was done") }
    return try result.get()
}

private final class Done<Value: Sendable>: Sendable {
    let result = Mutex<Result<Value, any Error>?>(nil)
    let signal = DispatchSemaphore(value: 0)
}
