import Curl
package import Renewal
import Synchronization

/// Notes the calls that one check makes, for the evidence. Beside the checks nobody notes any.
package final class CallLog: Sendable {
    @TaskLocal private static var current: CallLog?

    private let state = Mutex(State())

    private struct State {
        var calls: [StoreCall] = []
        var storeNow: Timestamp?
    }

    private init() {}

    /// Makes a check and notes its calls.
    package static func noting(_ check: () async -> Answer) async -> AnsweredCall {
        let log = CallLog()
        let answer = await $current.withValue(log) { await check() }
        let heard = log.state.withLock(\.self)
        return AnsweredCall(answer, calls: heard.calls, storeNow: heard.storeNow)
    }

    static func note(_ name: String, _ response: HTTPResponse?) {
        guard let current else { return }
        let call = StoreCall(
            name, status: response.map { Int($0.status) }, body: response?.body ?? [])
        current.state.withLock { state in
            state.calls.append(call)
            state.storeNow = response?.storeNow ?? state.storeNow
        }
    }
}
