import Crypto
import Renewal

/// Makes what is kept of a check: what was said, and of each call what recognises it.
struct EvidenceKeeper: Sendable {
    /// Whether bodies are kept as they came. They hold what must not be told to anybody.
    let keepsRaw: Bool

    func evidence(of answered: AnsweredCall) -> Evidence {
        Evidence(
            answered.answer.kind, heard: answered.answer.words, calls: answered.calls.map(call))
    }

    private func call(_ call: StoreCall) -> Evidence.Call {
        let hasReply = call.status != nil
        return Evidence.Call(
            name: call.name, status: call.status, bytes: call.body.count,
            digest: hasReply ? Self.digest(call.body) : nil,
            raw: keepsRaw && hasReply ? Self.text(call.body) : nil)
    }

    private static func digest(_ body: [UInt8]) -> String {
        SHA256.hash(data: body).hexDigits
    }

    /// PostgreSQL's text has no place for a zero byte.
    private static func text(_ body: [UInt8]) -> String {
        String(decoding: body.filter { $0 != 0 }, as: UTF8.self)
    }
}
