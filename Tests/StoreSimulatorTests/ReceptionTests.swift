import Foundation
import Testing

@testable import StoreSimulator

@Suite("What clients must prove")
struct AuthenticationTests {
    @Test(
        "Apple refuses a request token with a wrong claim",
        arguments: [
            "iss=someone", "aud=appstoreconnect-v2", "bid=com.example.other", "bid=", "exp=-1",
            "exp=4000", "iat=600", "kid=OTHERKEY00", "alg=none", "alg=HS256",
        ])
    func appleRefuses(_ change: String) throws {
        let stage = try Stage()
        let purchase = try stage.buy(.apple)
        let sides = change.split(separator: "=", omittingEmptySubsequences: false).map(String.init)
        var claims = stage.appleClaims()
        var header: [String: Any] = [:]
        let now = SimulatedClock.machineNow.seconds
        switch sides[0] {
        case "kid", "alg": header[sides[0]] = sides[1]
        case "exp", "iat": claims[sides[0]] = now + (try #require(Int64(sides[1])))
        default: claims[sides[0]] = sides[1].isEmpty ? nil : sides[1]
        }
        let token = try stage.appleToken(claims, header: header)
        let reply = try stage.apple(purchase.token, bearer: token)
        #expect(reply.status == 401)
        #expect(reply.contentType == "text/plain" && reply.object.isEmpty)
        #expect(try stage.apple(purchase.token).status == 200)
    }

    @Test("Apple refuses a token whose signature is another's")
    func appleRefusesASignature() throws {
        let stage = try Stage()
        let purchase = try stage.buy(.apple)
        let token = try stage.appleToken()
        let other = try stage.appleToken()
        let mixed = token.split(separator: ".").dropLast() + [other.split(separator: ".")[2]]
        // Both have the same text, so only a changed text makes the signature wrong.
        let changed = try stage.appleToken(stage.appleClaims(now: 1_700_000_000))
        let wrong = changed.split(separator: ".").dropLast() + [mixed[2]]
        #expect(try stage.apple(purchase.token, bearer: wrong.joined(separator: ".")).status == 401)
    }

    @Test("Apple tells apart ids of no purchase, of the other environment and no ids")
    func appleKnowsIDs() throws {
        let stage = try Stage()
        let purchase = try stage.buy(.apple)
        let sandbox = try stage.buy(.apple, #","environment":"sandbox""#)
        #expect(try stage.apple(sandbox.token).object["errorCode"] as? Int == 4_040_010)
        #expect(try stage.apple(sandbox.token, at: .sandbox).status == 200)
        #expect(try stage.apple(purchase.token, at: .sandbox).status == 404)
        #expect(try stage.apple("999").object["errorCode"] as? Int == 4_040_010)
        #expect(try stage.apple("GPA.1").object["errorCode"] as? Int == 4_000_006)
    }

    @Test(
        "Google's token endpoint refuses a wrong assertion",
        arguments: [
            ("iss=someone", "Invalid grant: account not found"),
            ("aud=https://example.com/", "Invalid JWT: Failed audience check."),
            ("exp=-1", "Invalid JWT: Token must be a short-lived token"),
            ("exp=8000", "Invalid JWT: Token must be a short-lived token"),
            ("iat=600", "Invalid JWT: Token must be a short-lived token"),
            ("scope=email", "Invalid OAuth scope"),
        ])
    func googleRefuses(_ change: String, _ words: String) throws {
        let stage = try Stage()
        let sides = change.split(separator: "=").map(String.init)
        var claims = stage.googleClaims()
        let now = SimulatedClock.machineNow.seconds
        claims[sides[0]] = Int64(sides[1]).map { now + $0 } ?? sides[1]
        let reply = stage.postToken(try stage.assertion(claims))
        #expect(reply.status == 400)
        let description = reply.object["error_description"] as? String
        #expect(description?.hasPrefix(words) == true)
        #expect(stage.postToken(try stage.assertion()).status == 200)
    }

    @Test("Google's token endpoint refuses a foreign signature and what is no assertion")
    func googleRefusesASignature() throws {
        let stage = try Stage()
        let good = try stage.assertion().split(separator: ".")
        let body = try Stage.segment(stage.googleClaims(now: 1_700_000_000))
        let wrong = "\(good[0]).\(body).\(good[2])"
        let words = stage.postToken(wrong).object["error_description"] as? String
        #expect(words == "Invalid JWT Signature.")
        for text in ["", "a.b", "a.b.c", "....", String(repeating: "x", count: 5000)] {
            #expect(stage.postToken(text).status == 400)
        }
    }

    @Test("Google's access token ends by the simulated clock")
    func bearerEnds() throws {
        let stage = try Stage()
        let purchase = try stage.buy(.google)
        let bearer = try stage.googleBearer()
        #expect(try stage.google(purchase.token, bearer: bearer).status == 200)
        _ = stage.control("POST", "/clock", #"{"advance":"PT1H"}"#)
        let reply = try stage.google(purchase.token, bearer: bearer)
        #expect(reply.status == 401 && reply.text.contains("authError"))
        #expect(try stage.google(purchase.token).status == 200)
    }

    @Test("Google knows its packages and tokens")
    func googleKnowsTokens() throws {
        let stage = try Stage()
        let purchase = try stage.buy(.google)
        _ = try stage.buy(.google, #","app":"com.example.other""#)
        let bearer = try stage.googleBearer()
        let status = { (app: String, token: String) in
            let reply = stage.get(Stage.googlePath(token, app: app), bearer: bearer)
            let error = reply.object["error"] as? [String: Any]
            let first = (error?["errors"] as? [[String: Any]])?.first
            return "\(reply.status) \(first?["reason"] as? String ?? "")"
        }
        #expect(status("com.example.none", purchase.token) == "404 applicationNotFound")
        #expect(status("com.example.reader", "nothing") == "404 purchaseTokenNotFound")
        #expect(
            status("com.example.other", purchase.token)
                == "400 purchaseTokenDoesNotMatchPackageName")
        #expect(status("com.example.reader", purchase.token) == "200 ")
    }

    @Test("Amazon wants its secret, the user and the right environment")
    func amazonRefuses() throws {
        let stage = try Stage()
        let purchase = try stage.buy(.amazon)
        let sandbox = try stage.buy(.amazon, #","environment":"sandbox""#)
        let secret = stage.credentials.amazonSecret
        #expect(stage.amazon(purchase).status == 200)
        #expect(stage.get(Stage.amazonPath(purchase, secret: "2:x:y==")).status == 496)
        let other = Stage.amazonPath(purchase, secret: secret, user: sandbox.storeUser)
        #expect(stage.get(other).status == 497)
        #expect(stage.amazon(sandbox).status == 400)
        #expect(stage.get("/sandbox" + Stage.amazonPath(sandbox, secret: "any")).status == 200)
        #expect(stage.get(Stage.amazonPath(sandbox, secret: "any"), at: .sandbox).status == 200)
        #expect(stage.amazon(purchase, at: .sandbox).status == 400)
        let escaped = Stage.amazonPath(purchase, secret: secret).replacing(":", with: "%3A")
        #expect(stage.get(escaped.replacing("=", with: "%3D")).status == 200)
    }
}

@Suite("The control calls")
struct ControlTests {
    @Test(
        "refuse what they do not understand",
        arguments: [
            ("POST", "/clock", #"{"advance":"soon"}"#, 400),
            ("POST", "/clock", #"{}"#, 400),
            ("POST", "/purchases", #"{"store":"steam","product":"p"}"#, 400),
            ("POST", "/purchases", #"{"store":"apple"}"#, 400),
            ("POST", "/purchases", #"{"store":"apple","product":"p","period":"P0D"}"#, 400),
            ("POST", "/purchases", #"{"store":"apple","product":"p","count":0}"#, 400),
            ("POST", "/purchases", #"not json"#, 400),
            ("GET", "/purchases/1", "", 404),
            ("POST", "/purchases/0/cancel", "", 404),
            ("POST", "/faults", #"{"kind":"rain"}"#, 400),
            ("POST", "/faults", #"{"kind":"wrong_signature","store":"google"}"#, 400),
            ("DELETE", "/faults/9", "", 404),
            ("GET", "/nothing", "", 404),
        ])
    func refuses(_ method: String, _ path: String, _ body: String, _ status: Int) throws {
        let reply = try Stage().control(method, path, body)
        #expect(reply.status == status)
        #expect((reply.object["error"] as? String)?.isEmpty == false)
    }

    @Test("refuse a deed that makes no sense, with a reason")
    func refusesDeeds() throws {
        let stage = try Stage()
        let purchase = try stage.buy(.apple)
        for action in ["reverse_refund", "refund_past", "resume", "pause", "complete"] {
            #expect(stage.act(action, purchase).status == 409)
        }
        #expect(stage.act("fly", purchase).status == 404)
        #expect(stage.act("cancel", purchase).object["auto_renews"] as? Bool == false)
    }

    @Test("the clock advances, is set, and the truth follows it")
    func movesTheClock() throws {
        let stage = try Stage()
        let purchase = try stage.buy(.google)
        _ = stage.act("cancel", purchase)
        let truth = { (at: String) -> Bool? in
            let list = stage.control("GET", "/truth" + at).object["purchases"]
            return (list as? [[String: Any]])?.first?["entitled"] as? Bool
        }
        #expect(truth("") == true)
        #expect(truth("?at=2020-01-01T00:00:00Z") == false)
        let now = stage.control("POST", "/clock", #"{"advance":"P2M"}"#).object["now"] as? String
        #expect(try #require(Instant(text: now ?? "")) > purchase.timeline.start)
        #expect(truth("") == false)
        _ = stage.control("POST", "/clock", #"{"set":"2030-01-01T00:00:00Z"}"#)
        let set = stage.control("GET", "/clock").object["now"] as? String
        #expect(set?.hasPrefix("2030-01-01T00:0") == true)
    }

    @Test("a purchase of the future is not known yet", arguments: StoreName.allCases)
    func startsInTheFuture(_ store: StoreName) throws {
        let stage = try Stage()
        _ = stage.control("POST", "/clock", #"{"set":"2026-01-01T00:00:00Z"}"#)
        let purchase = try stage.buy(store, #","start":"2026-02-01T00:00:00Z""#)
        #expect(try [400, 404].contains(stage.ask(purchase).status))
        _ = stage.control("POST", "/clock", #"{"set":"2026-02-02T00:00:00Z"}"#)
        #expect(try stage.ask(purchase).status == 200)
    }

    @Test("the clock file holds the offset that libfaketime reads")
    func writesTheClockFile() throws {
        let file = FileManager.default.temporaryDirectory
            .appendingPathComponent("storesim-clock-\(ProcessInfo.processInfo.processIdentifier)")
        defer { try? FileManager.default.removeItem(at: file) }
        let stage = try Stage(clockFile: file.path)
        _ = stage.control("POST", "/clock", #"{"advance":"P30D"}"#)
        #expect(try String(contentsOf: file, encoding: .utf8) == "+2592000\n")
        _ = stage.control("POST", "/clock", #"{"set":"2020-01-01T00:00:00Z"}"#)
        let offset = try #require(
            Int64(String(contentsOf: file, encoding: .utf8).trimmingCharacters(in: .newlines)))
        let told = stage.control("GET", "/clock").object["offset_milliseconds"] as? Int64
        #expect(offset < 0 && told == offset * 1000)
    }

    @Test("changing the product gives a new Google token that names the old one")
    func changesProducts() throws {
        let stage = try Stage()
        let old = try stage.buy(.google)
        let reply = stage.act("change_product", old, #"{"product":"max"}"#)
        let fresh = try #require(reply.object["replacement"] as? [String: Any])
        let token = try #require(fresh["token"] as? String)
        let answer = try stage.google(token).object
        #expect(answer["linkedPurchaseToken"] as? String == old.token)
        let before = try stage.google(old.token).text
        #expect(before.contains("replacementCancellation") && before.contains("EXPIRED"))
        let end = try #require(old.timeline.life(at: old.timeline.start).latest).end.text
        #expect(try stage.google(token).text.contains(end))
    }

    @Test("calls are counted by store and by purchase until the counts are cleared")
    func countsCalls() throws {
        let stage = try Stage()
        let purchases = try [stage.buy(.amazon), stage.buy(.amazon)]
        for purchase in purchases + [purchases[0]] { _ = stage.amazon(purchase) }
        let calls = stage.control("GET", "/calls").object
        #expect((calls["amazon"] as? [String: Any])?["calls"] as? Int == 3)
        #expect(calls["purchases"] as? Int == 2 && calls["duplicates"] as? Int == 1)
        #expect(stage.control("GET", "/calls?purchase=1").object["calls"] as? Int == 2)
        _ = stage.control("DELETE", "/calls")
        #expect(stage.control("GET", "/calls?purchase=1").object["calls"] as? Int == 0)
    }

    @Test("the same seed gives the same names, another seed others")
    func followsTheSeed() throws {
        let names = try [UInt64](arrayLiteral: 3, 3, 4).map { seed in
            let stage = try Stage(seed: seed)
            let purchases = try [stage.buy(.google), stage.buy(.amazon)]
            return purchases.map { $0.token + $0.order + $0.storeUser }
        }
        #expect(names[0] == names[1] && names[0] != names[2])
    }

    @Test("ten thousand purchases are made by one call, each with a name of its own")
    func makesMany() throws {
        let stage = try Stage()
        let body = #"{"store":"google","product":"p","count":10000,"user":"u"}"#
        let list = stage.control("POST", "/purchases", body).object["purchases"]
        let tokens = try #require(list as? [[String: Any]]).compactMap { $0["token"] as? String }
        #expect(Set(tokens).count == 10_000)
    }
}
