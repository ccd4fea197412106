import Postgres
import Renewal
import Testing

@testable import Ledger

/// `renewald.purchases.access_reason`, and what is kept of a commitment.
@Suite(.serialized) struct AccessReasonTests {
    private static let view = """
        SELECT concat_ws(' ', user_id, access, access_reason) FROM renewald.purchases ORDER BY user_id
        """

    private func hear(
        _ observation: (Claim) -> Observation, _ stage: Stage, _ lease: Lease
    ) async throws -> [String] {
        try await stage.makeAllDue()
        let claims = try await stage.due(lease)
        _ = try await stage.ledger.commit(
            claims.map { outcome($0, observation($0)) }, under: lease, at: claims.latest)
        return try await stage.list(Self.view)
    }

    @Test func isThatOfTheLastGrantOrRevoke() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        try await stage.submit("ann", "token")
        #expect(try await stage.list(Self.view) == ["ann none"])
        #expect(try await hear({ inForce($0) }, stage, lease) == ["ann granted purchased"])
        #expect(
            try await hear({ inForce($0, period: 2) }, stage, lease) == ["ann granted purchased"])
        #expect(try await hear({ over($0) }, stage, lease) == ["ann none cancelled"])
        #expect(
            try await hear({ inForce($0, period: 4) }, stage, lease) == ["ann granted resubscribed"]
        )
        #expect(
            try await hear({ inForce($0, period: 4, product: "gold") }, stage, lease)
                == ["ann granted product_changed"])
        #expect(try await stage.broken() == [])
    }

    /// Also of a purchase that gives what its user holds by another one: each has its own.
    @Test func isThePurchasesOwn() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        for token in ["one", "two"] { try await stage.submit("ann", token) }
        #expect(
            try await hear({ inForce($0) }, stage, lease)
                == ["ann granted purchased", "ann granted purchased"])
        #expect(try await stage.number("SELECT count(*) FROM renewald.events") == 1)
    }

    /// What was granted before reasons were kept has that of its entitlement.
    @Test func isKnownOfWhatAnOlderProgramHasGranted() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        try await stage.submit("ann", "token")
        _ = try await hear({ inForce($0) }, stage, lease)
        try await stage.beside.script("UPDATE renewald.purchase SET gain = NULL")
        #expect(try await stage.list(Self.view) == ["ann granted purchased"])
        try await stage.beside.script(
            "UPDATE renewald.purchase SET lapse = 'refunded', access = 'none', holding_ends = '{}',"
                + " holding_products = '{}', holding_entitlements = '{}'")
        #expect(try await stage.list(Self.view) == ["ann none refunded"])
    }

    @Test func aCancelledCommitmentIsShownWithItsEnd() async throws {
        let stage = try await Stage()
        let lease = try await stage.takeAll()
        try await stage.submit("ann", "token")
        func committed(_ claim: Claim, renews: Bool) -> Observation {
            var observation = inForce(claim)
            observation.willRenew = renews
            observation.commitment = .until(
                claim.purchase.createdAt + .days(360), renewsNext: true)
            return observation
        }
        let shown = """
            SELECT concat_ws(' ', auto_renew, will_renew,
                commitment_ends_at = created_at + interval '360 days')
            FROM renewald.purchases JOIN renewald.entitlements USING (user_id)
            """
        _ = try await hear({ committed($0, renews: true) }, stage, lease)
        #expect(try await stage.list(shown) == ["t t t"])
        _ = try await hear({ committed($0, renews: false) }, stage, lease)
        #expect(try await stage.list(shown) == ["f t t"])
        let told = try await stage.list(
            """
            SELECT concat_ws(' ', reason, (detail ->> 'commitment_ends_at')::timestamptz
                = date_trunc('second', commitment_ends_at))
            FROM renewald.events JOIN renewald.purchases USING (user_id)
            WHERE events.kind = 'notice'
            """)
        #expect(told == ["auto_renew_off t"])
    }
}
