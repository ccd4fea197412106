import Crypto
import Curl
import Renewal
import Testing
import CryptoExtras

@testable import Stores

/// Whatever a store answers, and whatever fails: no token, receipt or secret comes out of it.
struct SecrecyTests {
    private static let planted = ["plutonium", "polonium", "thorium", "radium"]

    /// Bodies that echo what they were asked with, in every place that has a text.
    private static let bodies = [
        "plutonium polonium thorium radium",
        #"{"errorCode":4040010,"errorMessage":"plutonium polonium thorium radium"}"#,
        #"{"errorCode":"plutonium","data":"polonium"}"#,
        #"{"error":{"message":"plutonium","errors":[{"reason":"polonium thorium"}]}}"#,
        #"{"error":"plutonium","error_description":"radium","access_token":"radium\n"}"#,
        #"{"receiptId":"polonium-x","productType":"thorium","subscriptionState":"radium"}"#,
        #"{"data":[{"lastTransactions":[{"status":1,"signedTransactionInfo":"polonium.a.b"}]}]}"#,
        #"{"polonium":{"plutonium":[}"#,
    ]
    private static let statuses = [200, 302, 400, 401, 403, 404, 410, 429, 496, 497, 500]

    @Test func keepsWhatItWasAskedWithToItself() async throws {
        var heard = ""
        for body in Self.bodies {
            for status in Self.statuses {
                heard += try await Self.answers(
                    to: HTTPResponse(
                        status: status, retryAfter: "plutonium", date: "radium",
                        body: Array(body.utf8))
                ).map { "\($0) \(String(reflecting: $0))" }.joined()
            }
        }
        #expect(heard.contains("failure"))
        for word in Self.planted { #expect(!heard.contains(word), "\(word)") }
    }

    private static let appleKey = P256.Signing.PrivateKey().pemRepresentation
    private static let googleKey = Result {
        try _RSA.Signing.PrivateKey(keySize: .bits2048).pemRepresentation
    }

    /// What each store makes of a response, with and without an access token in the way.
    private static func answers(to response: HTTPResponse) async throws -> [Answer] {
        let now = AppleFixture.now
        let same = FakeWorld(clock: now) { _ async throws(CurlError) in response }
        let behindToken = FakeWorld(clock: now) { request async throws(CurlError) in
            request.method == .post
                ? .json(#"{"access_token":"radium","expires_in":3599}"#) : response
        }
        let host = try #require(StoreHost(baseURL: "https://thorium.example"))
        let apple = try AppleStore(
            credentials: AppleCredentials(
                bundleID: "b", issuerID: "radium", keyID: "radium",
                privateKeyPEM: Secret(appleKey)),
            production: host, sandbox: host, verifier: AppleVerifier(),
            transport: same.transport)
        let amazon = AmazonStore(
            credentials: AmazonCredentials(
                appID: "a", sharedSecret: Secret("plutonium"), allowsSandbox: true),
            production: host, sandbox: host, transport: same.transport)
        let pem = try googleKey.get().replacing("\n", with: "\\n")
        let file = Secret(
            #"{"type":"service_account","private_key":"\#(pem)","client_email":"radium@x"}"#)
        var answers = [
            await apple.ask(purchase(.apple, token: "polonium.eyJ.x"), at: now),
            await apple.ask(purchase(.apple, token: "eyJpolonium.b.c"), at: now),
            await apple.ask(purchase(.apple, token: "420001010101001"), at: now),
            await amazon.ask(purchase(.amazon, token: "polonium", user: "thorium"), at: now),
        ]
        for world in [same, behindToken] {
            let google = try GoogleStore(
                credentials: GoogleCredentials(
                    packageName: "p", account: GoogleServiceAccount(json: file)),
                host: host, transport: world.transport)
            answers.append(await google.ask(purchase(.google, token: "polonium"), at: now))
        }
        return answers
    }
}
