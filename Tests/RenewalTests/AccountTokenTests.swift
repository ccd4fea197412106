import Renewal
import TestSupport
import Testing

/// Whom the app has named to the store at the purchase.
struct AccountTokenTests {
    private static let uuid = "0b7e0c52-7c0a-4c1e-9d61-3a5f4f0c9a11"

    @Test(arguments: [
        ("ann", "ann", true), ("ann", "Ann", false), ("e\u{301}", "\u{e9}", false),
        (uuid, uuid.uppercased(), true), (uuid.uppercased(), uuid, true),
        (uuid, uuid.replacing("-", with: "m"), false), (uuid, String(uuid.dropLast()), false),
        ("m\(uuid.dropFirst())", "M\(uuid.dropFirst())", false), ("", "", true),
    ])
    func namesAUserByBytesOrAsAUUID(_ token: String, _ user: String, _ isNamed: Bool) {
        #expect(namesUser(UserID(token), UserID(user)) == isNamed)
    }

    /// A part of an answer that a client may choose must not keep the rest from being stored.
    @Test(arguments: ["", "a\u{0}b", String(repeating: "x", count: 1025)])
    func whatCanBeNoUsersIDIsNone(_ token: String) {
        var observation = Observation(
            environment: .production, status: .active,
            items: [Item(names: ["pro_month"], expiresAt: nil)])
        for (told, kept) in [("ann", "ann"), (token, "ann")] as [(String, UserID?)] {
            observation.accountToken = UserID(told)
            var facts = Facts(product: "pro_month")
            if told == token { facts.accountToken = "ann" }
            #expect(outcome(facts, observation).facts.accountToken == kept)
        }
        observation.accountToken = UserID(token)
        #expect(outcome(Facts(product: "pro_month"), observation).facts.accountToken == nil)
    }

    private func outcome(_ facts: Facts, _ observation: Observation) -> Outcome {
        let now = TestCalendar.start
        let purchase = Purchase(
            id: 1, userID: "user", app: AppKey(store: .google, id: "com.example.reader"),
            token: "token", createdAt: now, facts: facts)
        let claim = Claim(
            purchase: purchase, shard: 0, lane: 0, dueAt: now, version: 1, attempts: 0, crashes: 0,
            checkedAt: nil, claimedAt: now)
        return decide(
            claim, hearing: .verdict(observation), at: Moment(now: now, jitter: 0.5),
            under: Rules())
    }
}
