import Curl
package import Renewal
import Synchronization

/// One piece of work with a store, such as a check: it has leave for its further calls, and notes
/// each of them for the evidence.
package final class CallSession: Sendable {
    private let permit: CallPermit
    private let state = Mutex(State())

    private struct State {
        var calls: [StoreCall] = []
        var storeNow: Timestamp?
    }

    package init(_ permit: CallPermit = .free) { self.permit = permit }

    /// What came of it, with the calls that were made for it.
    package func answered(_ answer: Answer) -> AnsweredCall {
        let heard = state.withLock(\.self)
        return AnsweredCall(answer, calls: heard.calls, storeNow: heard.storeNow)
    }

    func waitForFurtherCall() async { await permit.wait() }

    func note(_ name: String, _ response: HTTPResponse?) {
        let call = StoreCall(
            name, status: response.map { Int($0.status) }, body: response?.body ?? [])
        state.withLock { state in
            state.calls.append(call)
            state.storeNow = response?.storeNow ?? state.storeNow
        }
    }
}
