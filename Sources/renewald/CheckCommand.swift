import Explain
import ArgumentParser
import Daemon
import Ledger
import Renewal

struct CheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Re-validates one user's purchases now and shows what changed and why.",
        discussion: """
            Works beside a running daemon. With --dry-run nothing is written.

            Example: renewald check user-17 --dry-run
            """)

    @OptionGroup var common: CommonOptions
    @Argument(help: "The user id, as it was given to renewald.submit.")
    var user: String
    @Flag(help: "Ask and judge, but write nothing.")
    var dryRun = false
    @Flag(help: "End with 66 when there is no such user.")
    var require = false
    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        guard !user.isEmpty else { throw ValidationError("the user id is empty") }
    }

    mutating func run() async throws {
        let (user, isDryRun, require, json) = (
            UserID(self.user), self.dryRun, self.require, self.json
        )
        try await common.withServices(asksStores: true) { services in
            let checked = try await UserCheck(services, isDryRun: isDryRun).run(user: user)
            if json {
                try Console.sayJSON(CheckOutput(user, checked))
            } else {
                try Console.say(
                    lines: CheckText(user: user, isDryRun: isDryRun, checked: checked).lines)
            }
            if checked.isUnknown, require { throw ExitReason.noInput }
            if !checked.unreadable.isEmpty || checked.purchases.contains(where: \.isUnjudged) {
                throw ExitReason.temporary
            }
        }
    }
}

extension CheckedPurchase {
    /// Whether the store did not tell the state.
    var isUnjudged: Bool { !decision.isVerdict && decision.facts.state != .invalid }
}

/// `{user, purchases: [{id, store, product, state_before, state, access_before, access, calls,
/// heard, rule, problem, events: […]}]}`. What cannot be read of a purchase is null.
private struct CheckOutput: Encodable {
    let user: UserID
    let purchases: [Purchase]

    struct Purchase: Encodable {
        let id: Int64
        /// Who has it.
        let owner: Nullable<UserID>
        let store: Nullable<String>
        let app: Nullable<AppID>
        let product: Nullable<ProductID>
        let state_before: Nullable<String>
        let state: Nullable<String>
        let access_before: Nullable<String>
        let access: Nullable<String>
        let expires_at_before: Nullable<String>
        let expires_at: Nullable<String>
        let next_check_at: Nullable<String>
        let problem: Nullable<String>
        let calls: [Call]
        let heard: Nullable<String>
        let rule: Nullable<String>
        let events: [Event]
    }

    struct Call: Encodable {
        let name: String
        let status: Nullable<Int>
    }

    struct Event: Encodable {
        let kind: String
        let reason: String
        let entitlement: Nullable<EntitlementID>
    }

    init(_ user: UserID, _ checked: CheckedUser) {
        self.user = user
        purchases =
            (checked.purchases.map(Purchase.init) + checked.unreadable.map(Purchase.init))
            .sorted { $0.id < $1.id }
    }
}

extension CheckOutput.Purchase {
    init(_ one: CheckedPurchase) {
        let purchase = one.claim.purchase
        id = purchase.id
        owner = Nullable(one.decision.handsTo ?? purchase.userID)
        store = Nullable(purchase.app.store.rawValue)
        app = Nullable(purchase.app.id)
        product = Nullable(one.facts.product)
        state_before = Nullable(purchase.facts.state.rawValue)
        state = Nullable(one.facts.state.rawValue)
        access_before = Nullable(purchase.facts.access.rawValue)
        access = Nullable(one.facts.access.rawValue)
        expires_at_before = Nullable(purchase.facts.expiresAt?.text)
        expires_at = Nullable(one.facts.expiresAt?.text)
        next_check_at = Nullable(CheckText.next(one.decision))
        problem = Nullable(one.decision.problem?.description)
        calls = one.hearing.calls.map {
            CheckOutput.Call(name: $0.name, status: Nullable($0.status))
        }
        heard = Nullable(one.hearing.answer.words)
        rule = Nullable(one.decision.rule)
        events = one.events.map { event in
            CheckOutput.Event(
                kind: event.told.kind, reason: event.told.reason,
                entitlement: Nullable(event.entitlement))
        }
    }

    init(_ purchase: UnreadablePurchase) {
        id = purchase.id
        owner = Nullable(purchase.userID)
        store = Nullable(purchase.app?.store.rawValue)
        app = Nullable(purchase.app?.id)
        product = Nullable(purchase.product)
        (state_before, state) = (Nullable(nil), Nullable(nil))
        (access_before, access) = (Nullable(nil), Nullable(nil))
        (expires_at_before, expires_at) = (Nullable(nil), Nullable(nil))
        next_check_at = Nullable(nil)
        problem = Nullable(purchase.problem.description)
        (calls, events) = ([], [])
        (heard, rule) = (Nullable(nil), Nullable(nil))
    }
}
