import Explain
import Ledger
import Renewal
import Synchronization
import Testing

/// Whom a question is about, and when a store is asked.
struct ExplainerTests {
    private static let renewal = "GPA.3301-7742-9918-40211..5"

    @Test func takesAUserIdFirst() async throws {
        let (explanation, asked) = try await explain("ada", users: ["ada"], orders: ["ada": "bob"])
        #expect(explanation.finding == .user && explanation.users.map(\.id) == ["ada"])
        #expect(asked.isEmpty)
    }

    @Test func takesAnOrderIdOfTheLedger() async throws {
        let (explanation, asked) = try await explain(
            Self.renewal, users: ["ada"], orders: [OrderID(Self.renewal): "ada"])
        #expect(explanation.finding == .order && explanation.users.map(\.id) == ["ada"])
        #expect(asked.isEmpty)
    }

    @Test func asksTheStoreForAnOrderThatIsNotKnown() async throws {
        let (explanation, asked) = try await explain(
            "MK5TTTVWJH", users: ["ada"], orders: ["2000000100": "ada"],
            answer: .told(ids: ["2000000100", "2000000101"]))
        #expect(asked == [.apple])
        #expect(explanation.finding == .store && explanation.users.map(\.id) == ["ada"])
        #expect(
            explanation.notes == ["The App Store has named the purchase that this order belongs to"]
        )
    }

    @Test(arguments: [
        (OrderLookup.told(ids: []), "Google Play does not know this order"),
        (
            OrderLookup.told(ids: [OrderID(Sample.token.text)]),
            "Google Play knows this order, but nobody has submitted its purchase"
        ),
        (
            OrderLookup.failed("the store refused our credentials (status 401)"),
            "Google Play could not be asked for this order: "
                + "the store refused our credentials (status 401)"
        ),
    ])
    func saysWhyNothingIsFound(_ answer: OrderLookup, _ note: String) async throws {
        let (explanation, asked) = try await explain(Self.renewal, answer: answer)
        let isAsked = if case .told = answer { true } else { false }
        #expect(explanation.finding == (isAsked ? .nothing : .unknown))
        #expect(explanation.users.isEmpty && explanation.notes == [note])
        #expect(asked == [.google])
    }

    @Test func asksNobodyWhenOffline() async throws {
        let explanation = try await explainer(users: [], orders: [:], stores: nil)
            .explain("MK5TTTVWJH")
        #expect(
            explanation.notes == ["The App Store was not asked for this order (--offline)"])
    }

    @Test(arguments: [
        ("MK5TTTVWJH", Store.apple), ("GPA.3301-7742-9918-40211", .google),
        ("GPA.3301-7742-9918-40211..0", .google), ("ada", nil), ("mk5tttvwjh", nil),
        ("MARTHA", nil), ("M K5TTTVWJH", nil), ("2000000123456789", nil), ("", nil), ("GPA", nil),
    ])
    func knowsAnOrderIdByItsLook(_ id: String, _ store: Store?) {
        #expect(OrderLookup.store(ofOrder: OrderID(id)) == store)
    }

    @Test func asksNobodyAboutAUserId() async throws {
        let (explanation, asked) = try await explain("nobody", answer: .told(ids: ["1"]))
        #expect(explanation.finding == .nothing && explanation.notes.isEmpty && asked.isEmpty)
    }

    private func explain(
        _ question: String, users: Set<UserID> = [], orders: [OrderID: UserID] = [:],
        answer: OrderLookup = .failed("not expected")
    ) async throws -> (Explanation, [Store]) {
        let asked = AskedStores()
        let explanation = try await explainer(users: users, orders: orders) { store, _, _ in
            asked.stores.withLock { $0.append(store) }
            return answer
        }.explain(question)
        return (explanation, asked.stores.withLock { $0 })
    }

    private final class AskedStores: Sendable {
        let stores = Mutex<[Store]>([])
    }

    private func explainer(
        users: Set<UserID>, orders: [OrderID: UserID], stores: Explainer.Stores?
    ) -> Explainer {
        Explainer(
            history: { user throws(LedgerError) in
                let purchases = Sample.lapsed.purchases
                return Sample.history(user: user, users.contains(user) ? purchases : [])
            },
            owners: { order throws(LedgerError) in orders[order].map { [$0] } ?? [] },
            stores: stores)
    }
}
