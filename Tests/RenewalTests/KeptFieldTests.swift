import Renewal
import Testing

/// A decision is kept with each field of what was heard, also where nothing else is said.
@Suite struct KeptFieldTests {
    private static let time = Timestamp(microsecondsSinceEpoch: 1_800_000_000_000_000)
    private static let plain = Observation(environment: .production, status: .active, items: [])

    /// Each field, said alone.
    private static let fields: [(name: String, say: @Sendable (inout Observation) -> Void)] = [
        ("environment", { $0.environment = .sandbox }),
        ("kind", { $0.kind = .nonRenewing }),
        ("observed", { $0.observed = .own(.hold) }),
        ("items", { $0.items = [Item(names: ["monthly"], expiresAt: time)] }),
        ("originalID", { $0.originalID = "1" }),
        ("orderID", { $0.orderID = "2" }),
        ("period", { $0.period = "3" }),
        ("paidThrough", { $0.paidThrough = time }),
        ("expiresAt", { $0.expiresAt = time }),
        ("willRenew", { $0.willRenew = false }),
        ("commitment", { $0.commitment = .until(time, renewsNext: true) }),
        ("phase", { $0.phase = .trial }),
        ("purchasedAt", { $0.purchasedAt = time }),
        ("signals", { $0.signals = [.pauseScheduled] }),
        ("predecessorToken", { $0.predecessorToken = StoreToken("older") }),
        ("nextToken", { $0.nextToken = StoreToken("next") }),
        ("isMigrated", { $0.isMigrated = true }),
        ("group", { $0.group = "4" }),
        ("usedIntroductory", { $0.usedIntroductory = true }),
        ("accountToken", { $0.accountToken = "ann" }),
        ("ownership", { $0.ownership = .assigned }),
        ("offerIsIntroductory", { $0.offerIsIntroductory = false }),
        ("awaitsAcknowledgement", { $0.awaitsAcknowledgement = true }),
        ("statedAt", { $0.statedAt = time }),
        ("askAgainBy", { $0.askAgainBy = time }),
        ("pastRefunds", { $0.pastRefunds = ["5"] }),
        ("isRefundedInPart", { $0.isRefundedInPart = true }),
        ("refundedParts", { $0.refundedParts = ["6": RefundedPart()] }),
        (
            "lostParts",
            {
                $0.lostParts = LostParts([
                    "extra": LostPart(reason: .refunded),
                    "more": LostPart(reason: .expired, endedAt: time),
                ])
            }
        ),
        ("settledClues", { $0.settledClues = [.refund(of: "7")] }),
    ]
    /// These go into an event's detail alone, and decide nothing.
    private static let untold = ["notes", "words"]

    private static func record(_ observation: Observation) -> DecisionRecord {
        let purchase = Purchase(
            id: 1, userID: "ann", app: AppKey(store: .google, id: "app"), token: StoreToken("own"),
            createdAt: time, facts: Facts(product: "monthly"))
        let claim = Claim(
            purchase: purchase, shard: 0, lane: 0, dueAt: time, version: 1, attempts: 0,
            crashes: 0, checkedAt: nil, claimedAt: time)
        let moment = Moment(now: time, jitter: 0.5)
        let answer = Answer.verdict(observation)
        return DecisionRecord(
            of: decide(claim, hearing: answer, at: moment, under: Rules()), hearing: answer,
            at: moment, isReleasing: false)
    }

    @Test(arguments: fields.indices)
    func eachComesBackAlone(_ index: Int) throws {
        var heard = Self.plain
        Self.fields[index].say(&heard)
        let record = Self.record(heard)
        let read = try DecisionRecord(record.bytes, ofPurchase: 1)
        #expect(read.answer == record.answer, "\(Self.fields[index].name)")
        #expect(read.answer != Self.record(Self.plain).answer, "\(Self.fields[index].name)")
    }

    /// Whoever adds a field says here whether it is kept.
    @Test func noFieldIsForgotten() {
        let fields = Mirror(reflecting: Self.plain).children.compactMap(\.label)
        #expect(fields.sorted() == (Self.fields.map(\.name) + Self.untold).sorted())
    }
}
