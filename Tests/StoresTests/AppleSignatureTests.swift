import Crypto
import Foundation
import Renewal
import StoreFixtures
import SwiftASN1
import Testing

@testable import Stores

/// What Apple has not signed is not believed.
struct AppleSignatureTests {
    private static let payload = Array(AppleObservationTests.transaction.utf8)
    private typealias Variant = AppleAuthority.Variant

    private func verdict(on text: String, with verifier: AppleVerifier? = nil) async -> String {
        do {
            let transaction = try await (verifier ?? AppleFixture.verifier()).read(
                AppleTransaction.self, from: text, calling: "x", at: AppleFixture.now)
            return transaction.productId?.text ?? ""
        } catch let failure as StoreFailure {
            return summary(failure)
        } catch {
            return "\(error)"
        }
    }

    @Test func believesWhatTheChainVouchesFor() async throws {
        let authority = try AppleAuthority.trusted.get()
        #expect(await verdict(on: try authority.sign(Self.payload)) == "plus")
    }

    @Test func onlyCountsTheThirdCertificate() async throws {
        let authority = try AppleAuthority.trusted.get()
        let text = try authority.sign(
            Self.payload, chain: [authority.leaf, authority.intermediate, [1, 2, 3]])
        #expect(await verdict(on: text) == "plus")
    }

    @Test func takesThePresentWhereNoSignedDateIsGiven() async throws {
        let undated = try merged(AppleObservationTests.transaction, #"{"signedDate":null}"#)
        let authority = try AppleAuthority.trusted.get()
        #expect(await verdict(on: try authority.sign(undated)) == "plus")
        let expired = try AppleAuthority(
            Variant(leafNotAfter: "2026-01-01T00:00:00Z"), under: authority)
        #expect(await verdict(on: try expired.sign(undated)) == "signature")
    }

    @Test func believesWhatAnOldCertificateHasSignedInItsTime() async throws {
        let old = try AppleAuthority(
            Variant(leafNotBefore: "2021-08-25T00:00:00Z", leafNotAfter: "2023-09-24T00:00:00Z"),
            under: AppleAuthority.trusted.get())
        let then = try merged(
            AppleObservationTests.transaction, #"{"signedDate":1672531200000}"#)
        #expect(await verdict(on: try old.sign(then)) == "plus")
        #expect(await verdict(on: try old.sign(Self.payload)) == "signature")
    }

    /// A date for which the cached chain does not stand has to be refused as well.
    @Test func doesNotStretchACachedChain() async throws {
        let authority = try AppleAuthority.trusted.get()
        let verifier = try AppleFixture.verifier()
        #expect(await verdict(on: try authority.sign(Self.payload), with: verifier) == "plus")
        for date in [1_672_531_200_000, 2_100_000_000_000] {
            let payload = try merged(
                AppleObservationTests.transaction, #"{"signedDate":\#(date)}"#)
            let text = try authority.sign(payload)
            #expect(await verdict(on: text, with: verifier) == "signature")
        }
        #expect(await verdict(on: try authority.sign(Self.payload), with: verifier) == "plus")
    }

    @Test func refusesForeignAndUnfitChains() async throws {
        let trusted = try AppleAuthority.trusted.get()
        let variants: [(String, AppleAuthority)] = [
            ("foreign root of the same name", try AppleAuthority()),
            (
                "leaf without its purpose",
                try AppleAuthority(
                    Variant(leafPurpose: [1, 2, 840, 113635, 100, 6, 11, 2]), under: trusted)
            ),
            (
                "intermediate without its purpose",
                try AppleAuthority(
                    Variant(intermediatePurpose: [1, 2, 840, 113635, 100, 6, 2, 2]),
                    under: trusted)
            ),
            (
                "intermediate that is no authority",
                try AppleAuthority(Variant(intermediateIsAuthority: false), under: trusted)
            ),
            (
                "leaf expired when it signed",
                try AppleAuthority(Variant(leafNotAfter: "2026-03-01T00:00:00Z"), under: trusted)
            ),
            (
                "leaf not yet valid when it signed",
                try AppleAuthority(Variant(leafNotBefore: "2026-04-01T00:00:00Z"), under: trusted)
            ),
        ]
        for (name, authority) in variants {
            #expect(await verdict(on: try authority.sign(Self.payload)) == "signature", "\(name)")
        }
        let fine = try AppleAuthority(under: trusted)
        #expect(await verdict(on: try fine.sign(Self.payload)) == "plus")
    }

    @Test func refusesChainsOfAnotherShape() async throws {
        let authority = try AppleAuthority.trusted.get()
        let (leaf, middle, root) = (authority.leaf, authority.intermediate, authority.root)
        let chains: [[[UInt8]]] = [
            [], [leaf], [leaf, middle], [leaf, middle, root, root], [root, middle, leaf],
            [leaf, leaf, root], [leaf, [1, 2, 3], root], [[1, 2, 3], middle, root],
            [middle, root, root],
        ]
        for chain in chains {
            let text = try authority.sign(Self.payload, chain: chain)
            #expect(await verdict(on: text) == "signature")
        }
    }

    @Test(arguments: ["none", "HS256", "ES384", "es256", ""])
    func refusesOtherAlgorithms(algorithm: String) async throws {
        let text = try AppleAuthority.trusted.get().sign(Self.payload, algorithm: algorithm)
        #expect(await verdict(on: text) == "signature")
    }

    @Test func refusesASignatureInDER() async throws {
        let text = try AppleAuthority.trusted.get().sign(Self.payload, usesDER: true)
        #expect(await verdict(on: text) == "signature")
    }

    @Test func refusesASwappedPayloadAndAForeignSignature() async throws {
        let authority = try AppleAuthority.trusted.get()
        let other = try AppleAuthority(under: authority)
        let text = try authority.sign(Self.payload)
        let verifier = try AppleFixture.verifier()
        #expect(await verdict(on: text, with: verifier) == "plus")
        let parts = text.split(separator: ".").map(String.init)
        let changed = try merged(AppleObservationTests.transaction, #"{"productId":"max"}"#)
        let swapped = [parts[0], Base64.encodeURLSafe(changed), parts[2]]
        #expect(await verdict(on: swapped.joined(separator: "."), with: verifier) == "signature")
        let foreign = try other.sign(Self.payload).split(separator: ".").map(String.init)
        let mixed = [parts[0], parts[1], foreign[2]].joined(separator: ".")
        #expect(await verdict(on: mixed, with: verifier) == "signature")
        #expect(await verdict(on: parts[0] + "." + parts[1] + ".", with: verifier) == "signature")
    }

    @Test(arguments: ["", "a", "a.b", "a.b.c", "a.b.c.d", "..", "eyJ9.eyJ9.eyJ9", "{}.{}.{}"])
    func refusesOtherTexts(text: String) async {
        #expect(await verdict(on: text) == "signature")
    }

    @Test func keepsNoMoreChainsThanItsLimit() async throws {
        let trusted = try AppleAuthority.trusted.get()
        let verifier = try AppleFixture.verifier()
        for number in 0..<40 {
            let text = try trusted.sign(
                Self.payload, chain: [trusted.leaf, trusted.intermediate, [UInt8(number)]])
            #expect(await verdict(on: text, with: verifier) == "plus")
        }
        #expect(verifier.knownChainCount == 32)
    }

    @Test func pinsTheRootThatApplePublishes() {
        let fingerprint = SHA256.hash(data: AppleRoots.g3).map { String($0, radix: 16) }
        let published =
            "63343abfb89a6a3ebb57e9b3f5fa7be7c4f5c756f3017b3a8c488c3653e9179"
        #expect(fingerprint.joined() == published)
    }

    @Test func namesTheFaultOfARoot() {
        for roots in [[], [[1, 2, 3]]] as [[[UInt8]]] {
            #expect {
                try AppleVerifier(roots: roots)
            } throws: { error in
                (error as? CredentialFault)?.field == "root_certificate"
            }
        }
    }
}
