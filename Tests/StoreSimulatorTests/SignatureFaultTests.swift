import Crypto
import Foundation
import SwiftASN1
import Testing
import X509

@testable import StoreSimulator

@Suite("Signatures that curl is given", .serialized)
struct SignatureFaultTests {
    /// Whether the leaf's key made the signature, and whether the leaf is of our time.
    private func judge(_ sight: CurlSight) throws -> (isSigned: Bool, isInTime: Bool) {
        let data = try #require(sight.object["data"] as? [[String: Any]])
        let last = try #require(data.first?["lastTransactions"] as? [[String: Any]])
        let text = try #require(last.first?["signedTransactionInfo"] as? String)
        let parts = text.split(separator: ".")
        let bytes = try #require(Base64.bytes(ofURL: parts[0].utf8))
        let header = try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any]
        let chain = try #require(header?["x5c"] as? [String])
        let leaf = try Certificate(
            derEncoded: Array(try #require(Data(base64Encoded: chain[0]))))
        let key = try #require(P256.Signing.PublicKey(leaf.publicKey))
        let signature = try P256.Signing.ECDSASignature(
            rawRepresentation: try #require(Base64.bytes(ofURL: parts[2].utf8)))
        let now = Date(timeIntervalSince1970: Double(Days.start.seconds))
        return (
            key.isValidSignature(signature, for: Data((parts[0] + "." + parts[1]).utf8)),
            leaf.notValidAfter > now
        )
    }

    @Test("are right, by a foreign key, or by an expired certificate")
    func signsWrongly() async throws {
        try await CurlStage.with { curl in
            let purchase = try curl.stage.buy(.apple)
            #expect(try await judge(curl.ask(purchase)) == (true, true))
            _ = curl.stage.control("POST", "/faults", #"{"kind":"wrong_signature","count":1}"#)
            #expect(try await judge(curl.ask(purchase)) == (false, true))
            _ = curl.stage.control("POST", "/faults", #"{"kind":"expired_certificate","count":1}"#)
            #expect(try await judge(curl.ask(purchase)) == (true, false))
        }
    }
}
