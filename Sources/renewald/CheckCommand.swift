import ArgumentParser
import Daemon
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
        try await common.withWorkshop(asksStores: true) { workshop in
            let checked = try await UserCheck(workshop, isDryRun: isDryRun).run(user: user)
            if json {
                try Console.sayJSON(CheckOutput(user, checked))
            } else {
                try Console.say(
                    lines: CheckText(user: user, isDryRun: isDryRun, checked: checked).lines)
            }
            if checked.isEmpty, require { throw ExitReason.noInput }
            if checked.contains(where: \.isUnjudged) { throw ExitReason.temporary }
        }
    }
}

extension CheckedPurchase {
    /// Whether the store did not tell the state.
    var isUnjudged: Bool { !decision.isVerdict && decision.facts.state != .invalid }
}

/// `{user, purchases: [{id, store, product, state_before, state, access_before, access, calls,
/// heard, rule, problem, events: […]}]}`
private struct CheckOutput: Encodable {
    let user: UserID
    let purchases: [Purchase]

    struct Purchase: Encodable {
        let id: Int64
        /// Who has it.
        let owner: UserID
        let store: String
        let app: AppID
        let product: ProductID
        let state_before: String
        let state: String
        let access_before: String
        let access: String
        let expires_at_before: Nullable<String>
        let expires_at: Nullable<String>
        let next_check_at: Nullable<String>
        let problem: Nullable<String>
        let calls: [Call]
        let heard: String
        let rule: String
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

    init(_ user: UserID, _ checked: [CheckedPurchase]) {
        self.user = user
        purchases = checked.map { one in
            Purchase(
                id: one.claim.purchase.id,
                owner: one.decision.handsTo ?? one.claim.purchase.userID,
                store: one.claim.purchase.app.store.rawValue,
                app: one.claim.purchase.app.id, product: one.facts.product,
                state_before: one.claim.purchase.facts.state.rawValue,
                state: one.facts.state.rawValue,
                access_before: one.claim.purchase.facts.access.rawValue,
                access: one.facts.access.rawValue,
                expires_at_before: Nullable(one.claim.purchase.facts.expiresAt?.text),
                expires_at: Nullable(one.facts.expiresAt?.text),
                next_check_at: Nullable(CheckText.next(one.decision)),
                problem: Nullable(one.decision.problem?.description),
                calls: one.hearing.calls.map {
                    Call(name: $0.name, status: Nullable($0.status))
                },
                heard: one.hearing.answer.words,
                rule: one.decision.rule,
                events: one.events.map { event in
                    Event(
                        kind: event.told.kind, reason: event.told.reason,
                        entitlement: Nullable(event.entitlement))
                })
        }
    }
}
