import Renewal
import StoreFixtures

@testable import Stores

/// Answers of Apple, signed by the test authority.
enum AppleFixture {
    static let now = Timestamp(microsecondsSinceEpoch: 1_774_008_000_000_000)

    /// An entry of `lastTransactions`.
    static func entry(
        _ status: Int, transaction: [UInt8], renewal: [UInt8],
        original: String = "420001010101001"
    ) throws -> String {
        let authority = try AppleAuthority.trusted.get()
        return try entry(
            status, signed: authority.sign(transaction), renewal: authority.sign(renewal),
            original: original)
    }

    static func entry(
        _ status: Int, signed: String, renewal: String, original: String = "420001010101001"
    ) -> String {
        #"""
        {"originalTransactionId":"\#(original)","status":\#(status),
        "signedTransactionInfo":"\#(signed)","signedRenewalInfo":"\#(renewal)"}
        """#
    }

    static func answer(_ entries: [String], environment: String = "Production") -> String {
        let group = #"{"lastTransactions":[\#(entries.joined(separator: ","))]}"#
        return #"""
            {"environment":"\#(environment)","appAppleId":1599012345,
            "bundleId":"com.example.reader","data":[\#(group)]}
            """#
    }

    /// An ordinary answer about a running subscription.
    static func active(environment: String = "Production") throws -> String {
        let change = #"{"environment":"\#(environment)"}"#
        return try answer(
            [
                entry(
                    1, transaction: merged(AppleObservationTests.transaction, change),
                    renewal: merged(AppleObservationTests.renewal, change))
            ], environment: environment)
    }

    /// A signed transaction: `change` put over the running subscription.
    static func signed(_ change: String = "{}") throws -> String {
        try AppleAuthority.trusted.get().sign(merged(AppleObservationTests.transaction, change))
    }

    /// An entry of the statuses with `change` put over its transaction.
    static func entry(_ status: Int, _ change: String, original: String) throws -> String {
        let id = #"{"originalTransactionId":"\#(original)"}"#
        let own = String(
            decoding: try merged(AppleObservationTests.transaction, id), as: UTF8.self)
        return try entry(
            status, transaction: merged(own, change),
            renewal: merged(AppleObservationTests.renewal, id), original: original)
    }

    /// A page of the transaction history or of the refund history.
    static func page(_ changes: [String], next revision: String? = nil) throws -> String {
        let texts = try changes.map { "\"" + (try signed($0)) + "\"" }.joined(separator: ",")
        return #"""
            {"revision":"\#(revision ?? "end")","hasMore":\#(revision != nil),
            "bundleId":"com.example.reader","environment":"Production",
            "signedTransactions":[\#(texts)]}
            """#
    }

    static func verifier() throws -> AppleVerifier {
        try AppleVerifier(roots: [AppleAuthority.trusted.get().root])
    }

    /// What the statuses alone come to, for a purchase of the product `plus`.
    static func read(_ body: String, with verifier: AppleVerifier? = nil) async throws -> Answer {
        let reader = AppleReader(
            verifier: try verifier ?? Self.verifier(), bundleID: "com.example.reader",
            environment: .production, time: AppleTime(now: now, told: nil))
        do throws(StoreFailure) {
            var statuses = try reader.statuses(
                Array(body.utf8), of: AppleCustomer(userID: "ada", session: nil))
            var found = try await statuses.own(named: ["420001010101001"])
            if found == nil { found = await statuses.own(ofProduct: "plus") }
            guard let own = found else {
                try statuses.refuseUnread()
                return .doubt(.notFound)
            }
            if !own.isRunning,
                let heir = try await statuses.standIn(for: own.transaction, in: nil)
            {
                return try heir.reading(in: .production).answer
            }
            return try own.reading(in: .production).answer
        } catch {
            return .failure(error)
        }
    }
}
