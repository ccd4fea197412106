import Renewal
import Testing

@testable import Stores

struct PathSegmentTests {
    @Test(arguments: [
        ("Zk3vQ0aTq1=:3:11", "Zk3vQ0aTq1=:3:11"),
        ("kfbm.AO-J1O_x~", "kfbm.AO-J1O_x~"),
        ("a/b", "a%2Fb"),
        ("../../v2/other", "..%2F..%2Fv2%2Fother"),
        ("a?b#c%2F d", "a%3Fb%23c%252F%20d"),
        ("a\"b\\c", "a%22b%5Cc"),
        ("a\r\nHost: x\u{0}", "a%0D%0AHost:%20x%00"),
        ("ключ", "%D0%BA%D0%BB%D1%8E%D1%87"),
        ("...", "..."),
    ])
    func leavesPathCharactersAloneAndEscapesTheRest(raw: String, encoded: String) throws {
        #expect(try PathSegment(raw, what: "token").text == encoded)
    }

    @Test(arguments: [(".", 0), (".", 1), (".", 2), ("a", 8193)])
    func refusesWhatCannotBeASegment(letter: String, count: Int) {
        let raw = String(repeating: letter, count: count)
        #expect {
            try PathSegment(raw, what: "token")
        } throws: { error in
            guard case .rejected? = error as? StoreFailure else { return false }
            return true
        }
    }
}

struct CalendarTimeTests {
    @Test(arguments: [
        ("2026-02-15T10:20:28Z", 1_771_150_828_000_000),
        ("2026-02-15T10:20:28.912Z", 1_771_150_828_912_000),
        ("2026-02-15T10:20:28.912345678Z", 1_771_150_828_912_345),
        ("2026-02-15T12:20:28+02:00", 1_771_150_828_000_000),
        ("2024-02-29t00:00:00z", 1_709_164_800_000_000),
        ("1969-12-31T23:59:59.5Z", -500_000),
    ])
    func readsRFC3339(text: String, microseconds: Int64) {
        let read = CalendarTime.timestamp(rfc3339: text)
        #expect(read == Timestamp(microsecondsSinceEpoch: microseconds))
    }

    @Test(arguments: [
        "", "2026", "2026-02-30T00:00:00Z", "2026-13-01T00:00:00Z", "2026-02-15 10:20:28Z",
        "2026-02-15T10:20:28", "2026-02-15T10:20:28.Z", "2026-02-15T25:20:28Z",
        "2026-02-15T10:20:28Zx", "+026-02-15T10:20:28Z", "2026-02-15T10:20:28+2:00",
    ])
    func refusesWhatIsNoDate(text: String) {
        #expect(CalendarTime.timestamp(rfc3339: text) == nil)
    }

    @Test(arguments: ["2026-02-15T10:20:28Z", "2000-02-29T23:59:59Z", "1970-01-01T00:00:00Z"])
    func writesWhatItReads(text: String) throws {
        #expect(try time(text).text == text)
    }

    @Test func readsAnHTTPDate() throws {
        let read = CalendarTime.timestamp(httpDate: "Sun, 15 Feb 2026 10:20:28 GMT")
        #expect(try read == time("2026-02-15T10:20:28Z"))
        #expect(CalendarTime.timestamp(httpDate: "Sunday, 15-Feb-26 10:20:28 GMT") == nil)
    }
}

struct RetryAfterTests {
    /// Header, then seconds; now is 1774008000.
    @Test(arguments: [
        ("30", 30), ("0", 1), ("7200", 3600), ("1774008030000", 30), ("1774008030", 30),
        ("1774007000000", 1), ("1784008030000", 3600), ("9223372036854775807", nil),
        ("Fri, 20 Mar 2026 12:00:30 GMT", 30), ("soon", nil), ("-5", nil), ("20000000", nil),
    ])
    func understandsEachDialect(header: String, seconds: Int64?) {
        let now = Timestamp(microsecondsSinceEpoch: 1_774_008_000_000_000)
        #expect(RetryAfter.delay(header, at: now) == seconds.map(Duration.seconds))
    }
}

struct Base64Tests {
    @Test func decodesWhatItEncodes() {
        for length in 0..<40 {
            let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 41 &+ 251) }
            #expect(Base64.decodeURLSafe(Base64.encodeURLSafe(bytes).utf8) == bytes)
        }
    }

    @Test(arguments: ["A", "AAAAA", "AB", "AA=", "AA+A", "A A", "ä"])
    func refusesOtherTexts(text: String) {
        #expect(Base64.decodeURLSafe(text.utf8) == nil)
    }

    @Test func decodesTheStandardAlphabet() {
        #expect(Base64.decodeStandard("+/+/AA==".utf8) == [0xfb, 0xff, 0xbf, 0x00])
        #expect(Base64.decodeStandard("-_-_".utf8) == nil)
        #expect(Base64.decodeStandard("AA===".utf8) == nil)
    }
}

struct StoreHostTests {
    @Test(arguments: [
        "https://api.storekit.apple.com", "http://127.0.0.1:8080/", "HTTPS://[::1]:443",
    ])
    func takesAnOrigin(url: String) {
        #expect(StoreHost(baseURL: url) != nil)
    }

    @Test(arguments: [
        "", "api.example.com", "ftp://a", "https://", "https:///x", "https://a/b", "https://a?b",
        "https://u:p@a", "https://a b", "https://a\r\nb", "file:///etc/passwd", "https://ä",
    ])
    func refusesAllElse(url: String) {
        #expect(StoreHost(baseURL: url) == nil)
    }

    @Test func allowsPlainHTTPOnlyWhereItIsConfigured() {
        #expect(StoreHost(baseURL: "http://127.0.0.1:1")?.allowsPlainHTTP == true)
        #expect(StoreHost(baseURL: "https://127.0.0.1:1")?.allowsPlainHTTP == false)
    }
}

struct SecretTests {
    @Test func isNeverShown() {
        let secret = Secret("plutonium")
        var dumped = "\(secret) \(String(reflecting: secret)) \([secret])"
        dump(secret, to: &dumped)
        let credentials = AppleCredentials(
            bundleID: "b", issuerID: "i", keyID: "k", privateKeyPEM: secret)
        dump(credentials, to: &dumped)
        #expect(!dumped.contains("plutonium"))
        #expect(dumped.contains("***"))
    }
}
