import Renewal
import Testing

@testable import Stores

/// The account that the app named at the purchase, as each of Google's answers has it.
struct GoogleAccountTests {
    @Test(arguments: [
        (#"{"externalAccountIdentifiers":{"obfuscatedExternalAccountId":"u-7"}}"#, "u-7"),
        (#"{"externalAccountIdentifiers":{"externalAccountId":"u-7"}}"#, nil),
        (#"{"externalAccountIdentifiers":{"obfuscatedExternalAccountId":""}}"#, nil),
        (#"{"externalAccountIdentifiers":{"obfuscatedExternalAccountId":7}}"#, nil),
        (#"{"externalAccountIdentifiers":[]}"#, nil),
        (
            #"{"outOfAppPurchaseContext":{"expiredPurchaseToken":"old","#
                + #""expiredExternalAccountIdentifiers":{"obfuscatedExternalAccountId":"u-8"}}}"#,
            "u-8"
        ),
        (
            #"{"externalAccountIdentifiers":{"obfuscatedExternalAccountId":"u-7"},"#
                + #""outOfAppPurchaseContext":{"#
                + #""expiredExternalAccountIdentifiers":{"obfuscatedExternalAccountId":"u-8"}}}"#,
            "u-7"
        ),
    ])
    func readsItOfASubscription(_ wire: String, _ account: UserID?) throws {
        let facts = Facts(product: "plus")
        let read = try GoogleObservation(
            GoogleSubscription(merged(GoogleObservationTests.base, wire), at: GoogleFixture.now)
                .snapshot, facts: facts, at: GoogleFixture.now)
        #expect(read.observation.accountToken == account)
    }

    @Test(arguments: [
        (#"{"obfuscatedExternalAccountId":"u-7"}"#, "u-7"),
        (#"{"obfuscatedExternalAccountId":""}"#, nil),
        (#"{"obfuscatedExternalAccountId":{}}"#, nil), ("{}", nil),
    ])
    func readsItOfTheOtherAnswers(_ wire: String, _ account: UserID?) throws {
        let asked = purchase(.google, token: "t")
        let legacyBase = try merged(
            GoogleLegacyTests.base, #"{"obfuscatedExternalAccountId":null}"#)
        let legacy = try JSON.decode(
            GoogleLegacySubscription.self,
            from: merged(String(decoding: legacyBase, as: UTF8.self), wire))
        #expect(
            try legacy.snapshot(of: asked.facts, at: GoogleFixture.now).accountToken == account)
        let sale = try JSON.decode(
            GoogleProduct.self, from: merged(GoogleProductTests.base, wire)
        ).sale(at: GoogleFixture.now)
        let legacySale = try JSON.decode(
            GoogleLegacyProduct.self, from: merged(GoogleProductTests.legacyBase, wire)
        ).sale(of: asked, at: GoogleFixture.now)
        for sale in [sale, legacySale] {
            let observation = try GoogleOneTimeObservation(
                sale: sale, facts: asked.facts, kind: .nonConsumable, at: GoogleFixture.now
            ).observation
            #expect(observation.accountToken == account)
        }
    }
}
