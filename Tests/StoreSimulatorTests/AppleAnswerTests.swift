import Crypto
import Foundation
import SwiftASN1
import Testing
@_spi(FixedExpiryValidationTime) import X509

@testable import StoreSimulator

/// A signed answer as a client would take it apart; written against the vendor's page alone.
struct Signed {
    let payload: [String: Any]
    let chain: [Certificate]
    private let signingInput: Data
    private let signature: Data

    init(_ text: String) throws {
        let parts = text.split(separator: ".").map(String.init)
        try #require(parts.count == 3)
        let header = try Self.object(parts[0])
        #expect(header["alg"] as? String == "ES256")
        chain = try #require(header["x5c"] as? [String]).map { entry in
            try Certificate(derEncoded: Array(#require(Data(base64Encoded: entry))))
        }
        payload = try Self.object(parts[1])
        signingInput = Data((parts[0] + "." + parts[1]).utf8)
        signature = try Self.data(parts[2])
    }

    private static func data(_ text: String) throws -> Data {
        let standard = text.replacing("-", with: "+").replacing("_", with: "/")
        let padding = String(repeating: "=", count: (4 - standard.count % 4) % 4)
        return try #require(Data(base64Encoded: standard + padding))
    }

    private static func object(_ text: String) throws -> [String: Any] {
        try #require(JSONSerialization.jsonObject(with: data(text)) as? [String: Any])
    }

    var isSignedByLeaf: Bool {
        guard let leaf = chain.first, let key = P256.Signing.PublicKey(leaf.publicKey),
            let parsed = try? P256.Signing.ECDSASignature(rawRepresentation: signature)
        else { return false }
        return key.isValidSignature(parsed, for: signingInput)
    }

    /// Does the chain lead to `root`, with all dates right at the payload's `signedDate`?
    func isTrusted(root: Certificate) async throws -> Bool {
        let milliseconds = try #require(payload["signedDate"] as? Int64)
        let date = Date(timeIntervalSince1970: Double(milliseconds) / 1000)
        var verifier = Verifier(rootCertificates: CertificateStore([root])) {
            RFC5280Policy(fixedExpiryValidationTime: date)
        }
        let result = await verifier.validate(
            leaf: chain[0], intermediates: CertificateStore([chain[1]]))
        if case .validCertificate = result { return true }
        return false
    }
}

@Suite("Apple's answers")
struct AppleAnswerTests {
    /// `end` and `renewal` in days; `intent` is the expiration intent.
    static let table = rows(
        """
        deeds                        day  status  number  end  auto  intent  retry  grace  renewal
        -                            5    1       0       31   1     -       -      -      31
        -                            40   1       1       59   1     -       -      -      59
        cancel@5                     6    1       0       31   0     -       -      -      -
        cancel@5                     31   2       0       31   0     1       false  -      -
        failPayment@5                31   4       0       31   1     2       true   37     31
        failPayment@5                37   3       0       31   1     2       true   -      31
        failPayment@5                67   2       0       31   1     2       false  -      -
        failPayment@5 fixPayment@33  33   1       1       59   1     -       -      -      59
        refund@5                     6    5       0       31   0     1       false  -      -
        revoke@5                     6    5       0       31   0     1       false  -      -
        upgrade@5                    6    1       1       36   1     -       -      -      36
        """)

    @Test("tell status and dates as the table says", arguments: table)
    func tellsStatus(_ row: [String]) throws {
        let purchase = try Scene.purchase(.apple, row[0])
        let now = Days.instant(try #require(Double(row[1])))
        let life = purchase.timeline.life(at: now)
        let status = try #require(Apple.status(purchase, life, signedAt: now))
        let (transaction, renewal) = (status.transaction.object, status.renewal.object)
        let day = { (value: Any?) in
            (value as? Int64).map { Days.day(Instant(milliseconds: $0)) }
        }
        #expect(status.status == Int64(row[2]))
        let id = try #require(Int64(transaction["transactionId"] as? String ?? ""))
        #expect(id - Int64(purchase.token, default: 0) == Int64(row[3]))
        #expect(day(transaction["expiresDate"]) == Double(row[4]))
        #expect(renewal["autoRenewStatus"] as? Int == Int(row[5]))
        #expect(renewal["expirationIntent"] as? Int == Int(row[6]))
        #expect(renewal["isInBillingRetryPeriod"] as? Bool == Bool(row[7]))
        #expect(day(renewal["gracePeriodExpiresDate"]) == Double(row[8]))
        #expect(day(renewal["renewalDate"]) == Double(row[9]))
        #expect(day(transaction["signedDate"]) == Double(row[1]))
        let isRevoked = transaction["revocationDate"] != nil
        #expect(isRevoked == (status.status == 5))
    }

    @Test("have the members of the published example")
    func hasTheMembers() throws {
        let account = "0b7e0c52-7c0a-4c1e-9d61-3a5f4f0c9a11"
        let purchase = try Scene.purchase(.apple, "-", user: account)
        let now = Days.instant(40)
        let life = purchase.timeline.life(at: now)
        let status = try #require(Apple.status(purchase, life, signedAt: now))
        let transaction = """
            appAccountToken appTransactionId bundleId currency environment expiresDate \
            inAppOwnershipType originalPurchaseDate originalTransactionId price productId \
            purchaseDate quantity signedDate storefront storefrontId subscriptionGroupIdentifier \
            transactionId transactionReason type webOrderLineItemId
            """
        let renewal = """
            appTransactionId autoRenewProductId autoRenewStatus currency environment \
            originalTransactionId productId recentSubscriptionStartDate renewalDate renewalPrice \
            signedDate
            """
        let words = { (text: String) in text.split(separator: " ").map(String.init) }
        #expect(status.transaction.object.keys.sorted() == words(transaction))
        #expect(status.renewal.object.keys.sorted() == words(renewal))
    }

    private func signedAnswers(_ stage: Stage, _ purchase: Purchase) throws -> [Signed] {
        let answer = try stage.apple(purchase.token).object
        let group = try #require((answer["data"] as? [[String: Any]])?.first)
        let last = try #require((group["lastTransactions"] as? [[String: Any]])?.first)
        return try ["signedTransactionInfo", "signedRenewalInfo"].map { key in
            try Signed(#require(last[key] as? String))
        }
    }

    @Test("are signed by a chain of Apple's shape up to the root that was handed out")
    func isSigned() async throws {
        let stage = try Stage()
        let root = try Certificate(derEncoded: stage.credentials.signer.rootDER)
        for signed in try signedAnswers(stage, stage.buy(.apple)) {
            #expect(signed.isSignedByLeaf)
            #expect(try await signed.isTrusted(root: root))
            #expect(signed.chain.count == 3)
            #expect(signed.chain[0].extensions[oid: [1, 2, 840, 113635, 100, 6, 11, 1]] != nil)
            #expect(signed.chain[1].extensions[oid: [1, 2, 840, 113635, 100, 6, 2, 1]] != nil)
            #expect(P384.Signing.PublicKey(signed.chain[1].publicKey) != nil)
            #expect(signed.chain[2] == root)
        }
    }

    @Test("can be signed by a foreign key, or by an expired certificate")
    func canBeSignedWrongly() async throws {
        let stage = try Stage()
        let purchase = try stage.buy(.apple)
        let root = try Certificate(derEncoded: stage.credentials.signer.rootDER)
        _ = stage.control("POST", "/faults", #"{"kind":"wrong_signature","count":1}"#)
        let foreign = try signedAnswers(stage, purchase)[0]
        #expect(!foreign.isSignedByLeaf)
        _ = stage.control("POST", "/faults", #"{"kind":"expired_certificate","count":1}"#)
        let expired = try signedAnswers(stage, purchase)[0]
        #expect(expired.isSignedByLeaf)
        #expect(try await !expired.isTrusted(root: root))
        #expect(try signedAnswers(stage, purchase)[0].isSignedByLeaf)
    }

    @Test("of the same state are signed once in a while, of another one anew")
    func isSignedOnceAState() throws {
        let stage = try Stage()
        let purchase = try stage.buy(.apple)
        // A signature is random, so equal texts are one signature. The window is one second: of
        // three pairs asked at once one lies inside a window.
        let pairs = try (0..<3).map { _ in
            try (stage.apple(purchase.token).text, stage.apple(purchase.token).text)
        }
        #expect(pairs.contains { $0.0 == $0.1 })
        let before = try stage.apple(purchase.token).text
        _ = stage.act("cancel", purchase)
        #expect(try stage.apple(purchase.token).text != before)
    }
}

extension Int64 {
    fileprivate init(_ text: String, default value: Int64) {
        self = Int64(text) ?? value
    }
}
