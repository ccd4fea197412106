import TestSupport
import Testing

@testable import Renewal

/// Why another system differs (design section 10): the table is the specification.
@Suite struct ShadowTests {
    private static let catalog = Catalog([
        "monthly": .init(kind: nil, entitlements: ["pro"]),
        "coins": .init(kind: .consumable, entitlements: ["pro"]),
    ])

    /// A purchase is its product, state, access and reason of loss, and what else is known of it;
    /// several have a + between them. `last` is what the entitlement hung on last, `shared` another
    /// user's that this one has handed in as well.
    private static let table = rows(
        """
        who         purchases                                     cause
        they_grant  -                                             unknown_user
        they_grant  - last                                        expiry_unseen
        they_grant  monthly new none -                            not_yet_checked
        they_grant  monthly expired none expired last + monthly new none -   not_yet_checked
        they_grant  monthly pending none -                        false_renewal
        they_grant  monthly expired none expired                  expiry_unseen
        they_grant  monthly expired none cancelled                expiry_unseen
        they_grant  monthly expired none payment_failed           expiry_unseen
        they_grant  monthly expired none payment_failed moved     false_renewal
        they_grant  monthly expired none cancelled moved          expiry_unseen
        they_grant  monthly expired none refunded                 refund_unseen
        they_grant  monthly refunded none refunded                refund_unseen
        they_grant  monthly revoked none family_removed           refund_unseen
        they_grant  monthly hold none payment_failed              hold
        they_grant  monthly hold none payment_failed moved        hold
        they_grant  monthly paused none paused                    hold
        they_grant  monthly grace none payment_pending            grace
        they_grant  monthly grace none payment_pending moved      false_renewal
        they_grant  monthly grace none payment_pending hears-moved   false_renewal
        they_grant  monthly superseded none product_changed       expiry_unseen
        they_grant  monthly superseded none transferred           expiry_unseen
        they_grant  monthly invalid none invalid                  expiry_unseen
        they_grant  monthly active none - sandbox                 environment
        they_grant  monthly grace none - sandbox                  environment
        they_grant  monthly expired none expired sandbox          expiry_unseen
        they_grant  monthly expired none expired last + monthly active none - sandbox   environment
        they_grant  weekly active granted -                       product_not_mapped
        they_grant  weekly new none -                             product_not_mapped
        they_grant  coins active none -                           product_not_mapped
        they_grant  weekly active granted product_changed last    product_not_mapped
        they_grant  weekly active granted - last was-monthly      expiry_unseen
        they_grant  weekly grace granted - last was-monthly       expiry_unseen
        they_grant  weekly active granted - last was-weekly       product_not_mapped
        they_grant  weekly active granted - last was-addon refunded-part   refund_unseen
        they_grant  weekly active granted - + monthly expired none expired last was-monthly   expiry_unseen
        they_grant  monthly invalid none -                        unknown_user
        they_grant  monthly superseded none -                     expiry_unseen
        they_grant  weekly active granted - + monthly refunded none refunded   refund_unseen
        they_grant  monthly refunded none refunded last + monthly expired none expired   refund_unseen
        they_grant  monthly active granted - shared               unknown_user
        they_grant  monthly active held - shared                  unknown_user
        they_grant  monthly active granted transferred shared last    expiry_unseen
        they_grant  monthly expired none expired + monthly active granted - shared   unknown_user
        they_grant  monthly expired none expired shared           expiry_unseen
        they_grant  monthly refunded none refunded shared last    refund_unseen
        they_grant  monthly refunded none refunded + monthly expired none expired shared   refund_unseen
        they_grant  monthly new none - shared                     not_yet_checked
        they_grant  monthly active none - sandbox shared          environment
        they_grant  weekly active granted - shared                product_not_mapped
        we_grant    monthly active granted -                      renewal_unseen
        we_grant    monthly active granted - unknown              product_not_mapped
        we_grant    monthly grace granted -                       grace
        we_grant    monthly grace granted - hears-moved           grace
        we_grant    monthly grace granted - + monthly active granted -   renewal_unseen
        we_grant    monthly active granted - sandbox              environment
        we_grant    monthly active granted - sandbox unknown      environment
        we_grant    monthly active granted - sandbox + monthly grace granted -   grace
        we_grant    monthly active held -                         hold
        we_grant    monthly active held - + monthly active granted -   renewal_unseen
        """)

    @Test(arguments: table)
    func findsTheCause(_ row: [String]) throws {
        let who = try #require(ShadowClass(rawValue: row[0]))
        let words = row[1].split(separator: "+").map { $0.split(separator: " ").map(String.init) }
        var lastHeldBy: Int64?
        var purchases: [ShadowCase.Evidence] = []
        var claimed: [ShadowCase.Evidence] = []
        for (index, words) in words.enumerated() {
            if words.contains("last") { lastHeldBy = Int64(index + 1) }
            guard words.count > 2 else { continue }
            let one = try purchase(Int64(index + 1), words)
            if words.contains("shared") { claimed.append(one) } else { purchases.append(one) }
        }
        let difference = ShadowCase(
            "pro", who, purchases: purchases, claimed: claimed, lastHeldBy: lastHeldBy,
            lastProduct: words.joined().first { $0.hasPrefix("was-") }.map {
                ProductID(String($0.dropFirst("was-".count)))
            }, isKnownToThem: !row[1].contains("unknown"))
        #expect(difference.cause(under: Self.catalog).rawValue == row[2])
    }

    private func purchase(_ id: Int64, _ words: [String]) throws -> ShadowCase.Evidence {
        let product = ProductID(words[0])
        let access = try #require(Access(rawValue: words[2]))
        let isHolder = access != .none && product == "monthly"
        var facts = Facts(
            storedProduct: product, state: try #require(PurchaseState(rawValue: words[1])),
            access: access, lossReason: RevokeReason(rawValue: words[3]),
            holdings: isHolder
                ? [Holding(entitlement: "pro", product: product, expiresAt: nil)] : [])
        facts.environment = words.contains("sandbox") ? .sandbox : .production
        var heard =
            words.contains("hears-moved")
            ? Observation(
                environment: .production, status: .grace(expiryMovedUnpaid: true),
                items: [Item(names: [product], expiresAt: nil)]) : nil
        if words.contains("refunded-part") {
            heard = Observation(
                environment: .production, status: .active,
                items: [Item(names: [product], expiresAt: nil)])
            heard?.lostParts = LostParts(all: .refunded)
        }
        return ShadowCase.Evidence(
            id: id, createdAt: Timestamp(microsecondsSinceEpoch: id), facts: facts, heard: heard,
            wasMovedUnpaid: words.contains("moved"))
    }

    /// Every cause that the contract names, and no other.
    @Test func namesTheCausesOfTheContract() {
        #expect(
            ShadowCause.allCases.map(\.rawValue) == [
                "refund_unseen", "renewal_unseen", "expiry_unseen", "false_renewal", "grace",
                "hold", "environment", "product_not_mapped", "unknown_user", "not_yet_checked",
            ])
        #expect(Set(Self.table.map { $0[2] }) == Set(ShadowCause.allCases.map(\.rawValue)))
    }

    @Test func knowsSinceWhen() throws {
        func day(_ number: Int64) -> Timestamp {
            Timestamp(microsecondsSinceEpoch: number * 86_400_000_000)
        }
        var ended = try purchase(1, ["monthly", "expired", "none", "expired"])
        var facts = ended.facts
        facts.expiresAt = day(3)
        ended = .init(
            id: 1, createdAt: day(0), facts: facts, heard: nil, wasMovedUnpaid: false)
        let difference = ShadowCase(
            "pro", .theyGrant, purchases: [ended], lastHeldBy: 1, isKnownToThem: true)
        #expect(difference.since(under: Self.catalog, told: day(4), at: day(9)) == day(4))
        #expect(difference.since(under: Self.catalog, told: nil, at: day(9)) == day(3))
        #expect(difference.since(under: Self.catalog, told: nil, at: day(2)) == nil)
        let stranger = ShadowCase(
            "pro", .theyGrant, purchases: [], lastHeldBy: nil, isKnownToThem: true)
        #expect(stranger.since(under: Self.catalog, told: nil, at: day(9)) == nil)
    }
}
