import Curl
package import Renewal
import Synchronization

/// One piece of work with a store, such as a check: it has leave for its further calls, notes each
/// of them for the evidence, and knows of other purchases what the ledger knows.
package final class CallSession: Sendable {
    private let permit: CallPermit
    /// What is known of other purchases of the app.
    let known: KnownPurchases
    private let state: Mutex<State>

    private struct State {
        var calls: [StoreCall] = []
        var storeNow: Timestamp?
        var place: CallPlace
    }

    package init(_ permit: CallPermit = .free, knowing known: KnownPurchases = .none) {
        self.permit = permit
        state = Mutex(State(place: permit.first))
        self.known = known
    }

    /// What came of it, with the calls that were made for it.
    package func answered(_ answer: Answer) -> AnsweredCall {
        let heard = state.withLock { $0 }
        return AnsweredCall(answer, calls: heard.calls, storeNow: heard.storeNow)
    }

    /// Waits for the place of a further call.
    func waitForFurtherCall() async {
        let place = await permit.wait()
        state.withLock { $0.place = place }
    }

    /// The place that was given last; the next call has it.
    var place: CallPlace { state.withLock(\.place) }

    func note(_ name: String, _ response: HTTPResponse?) {
        let call = StoreCall(
            name, status: response.map { Int($0.status) }, body: response?.body ?? [])
        state.withLock { state in
            state.calls.append(call)
            state.storeNow = response?.storeNow ?? state.storeNow
        }
    }
}
