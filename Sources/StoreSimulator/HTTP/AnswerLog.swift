import Glibc
import NIOCore
import Synchronization

/// A file with one JSON line for each answer of a store, in the order in which they were given.
///
/// The same seed, the same clock standing still and the same calls one after another give the same
/// bytes. What a new key makes different each time is left out: see `withoutSignatures`.
final class AnswerLog: Sendable {
    /// Why there is no log.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private let file: Int32
    private let count = Mutex<Int64>(0)

    /// Begins the file anew; only its owner may read it.
    ///
    /// - Throws: `Failure` when it cannot be written.
    init(path: String) throws {
        file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_APPEND, 0o600)
        guard file >= 0 else { throw Failure(description: "the log of answers cannot be written") }
    }

    deinit { close(file) }

    func add(_ request: Request, _ reply: Reply, now: Instant) {
        // One answer at a time, so that numbers and lines have the same order.
        count.withLock { count in
            count += 1
            let line = Self.line(count, request, reply, now)
            line.withUnsafeBytes { bytes in
                var rest = bytes[...]
                while !rest.isEmpty {
                    let written = write(
                        file, UnsafeRawBufferPointer(rebasing: rest).baseAddress,
                        rest.count)
                    guard written > 0 else { return }
                    rest = rest.dropFirst(written)
                }
            }
        }
    }

    private static func line(
        _ count: Int64, _ request: Request, _ reply: Reply, _ now: Instant
    ) -> [UInt8] {
        var json = JSONWriter(capacity: reply.body.readableBytes + 600)
        json.object { json in
            json.member("answer", count)
            json.member("at", reply.note?.now ?? now)
            json.member("host", request.host.rawValue)
            json.member("endpoint", request.endpoint.rawValue)
            json.member("method", request.method)
            json.member("target", request.target)
            if let note = reply.note {
                json.member("store", note.store.rawValue)
                json.member("purchase", orNull: note.purchase)
                json.member("fault", orNull: note.fault?.rawValue)
                json.array("faults", note.faults)
            }
            json.member("status", reply.status)
            json.member("type", reply.contentType)
            for (name, value) in reply.headers { json.member(name, value) }
            json.member("delay_ms", reply.delayMilliseconds)
            json.member("delivery", "\(reply.delivery)")
            let body = Array((reply.unspoiled ?? reply.body).readableBytesView)
            if reply.contentType == "application/json", body.first == UInt8(ascii: "{") {
                json.member("body", JSON(bytes: withoutSignatures(body)))
            } else {
                json.member("body", String(decoding: body, as: UTF8.self))
            }
        }
        return json.bytes + [UInt8(ascii: "\n")]
    }
}

// What is left out.
extension AnswerLog {
    /// A JSON text where each signed string stands without what the keys of one start of the
    /// simulator put into it: a JWS is replaced by the object that it signs, itself treated so, and
    /// a base64 text of DER (a receipt) by `(signed receipt)`.
    static func withoutSignatures(_ json: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(json.count)
        var place = 0
        while place < json.count {
            guard json[place] == quote else {
                result.append(json[place])
                place += 1
                continue
            }
            let end = endOfString(json, from: place + 1)
            let text = json[(place + 1)..<end]
            if text.starts(with: "eyJ".utf8), let payload = payload(text) {
                result += withoutSignatures(payload)
            } else if text.count > receiptLeast, text.starts(with: "MI".utf8) {
                result += Array("\"(signed receipt)\"".utf8)
            } else {
                result += json[place...min(end, json.count - 1)]
            }
            place = end + 1
        }
        return result
    }

    private static let quote = UInt8(ascii: "\"")
    private static let receiptLeast = 500

    private static func endOfString(_ json: [UInt8], from start: Int) -> Int {
        var place = start
        while place < json.count, json[place] != quote {
            place += json[place] == UInt8(ascii: "\\") ? 2 : 1
        }
        return min(place, json.count)
    }

    private static func payload(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3,
            let bytes = Base64.bytes(
                ofURL: Substring(String(decoding: parts[1], as: UTF8.self)).utf8),
            bytes.first == UInt8(ascii: "{")
        else { return nil }
        return bytes
    }
}
