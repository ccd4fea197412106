import Foundation
import Testing

@testable import StoreSimulator

/// Every fault, seen by a plain `curl`. Exit 0 is an answer that curl is content with.
@Suite("Faults that curl sees", .serialized)
struct CurlFaultTests {
    static let table = rows(
        """
        store   fault                                              exit   status  has
        apple   {"kind":"status"}                                  0      500     5000001
        google  {"kind":"status","status":503}                     0      503     backendError
        amazon  {"kind":"status","status":500}                     0      500     "status":false
        google  {"kind":"html"}                                    0      200     <html>
        apple   {"kind":"html","status":502}                       0      502     <html>
        amazon  {"kind":"empty"}                                   0      200     -
        google  {"kind":"throttle","retry_after":30}               0      429     RESOURCE_EXHAUSTED
        amazon  {"kind":"throttle"}                                0      429     Too many requests
        apple   {"kind":"quota_exhausted"}                         0      429     4290000
        google  {"kind":"quota_exhausted"}                         0      403     PERMISSION_DENIED
        amazon  {"kind":"quota_exhausted"}                         0      429     Too many requests
        apple   {"kind":"unauthorized"}                            0      401     Unauthenticated
        google  {"kind":"unauthorized"}                            0      401     authError
        amazon  {"kind":"unauthorized"}                            0      496     developerSecret
        apple   {"kind":"not_found"}                               0      404     4040010
        google  {"kind":"not_found"}                               0      404     purchaseTokenNotFound
        amazon  {"kind":"not_found"}                               0      400     Failed to parse
        google  {"kind":"gone"}                                    0      410     NoLongerAvailable
        amazon  {"kind":"gone"}                                    0      410     no longer valid
        google  {"kind":"hang"}                                    28     0       -
        amazon  {"kind":"reset"}                                   lost   0       -
        amazon  {"kind":"cut"}                                     lost   200     "autoRenewing"
        google  {"kind":"slow","latency":"uniform 300 400"}        0      200     regionCode
        """)

    @Test("give the answer of the table", arguments: ["--http1.1", "--http2"])
    func answers(_ version: String) async throws {
        try await CurlStage.with { curl in
            var purchases: [StoreName: Purchase] = [:]
            for store in StoreName.allCases { purchases[store] = try curl.stage.buy(store) }
            for row in Self.table {
                let store = try #require(StoreName(rawValue: row[0]))
                let purchase = try #require(purchases[store])
                #expect(curl.stage.control("POST", "/faults", row[1]).status == 200)
                let limit = row[2] == "28" ? ["--max-time", "1"] : []
                let sight = try await curl.ask(purchase, [version] + limit)
                _ = curl.stage.control("DELETE", "/faults")
                let isLost = row[2] == "lost" && sight.exit != 0 && sight.exit != 28
                #expect(isLost || sight.exit == Int32(row[2]), "\(row)")
                #expect(sight.status == Int(row[3]), "\(row)")
                #expect(row[4] == "-" ? sight.body == "" : sight.body.contains(row[4]), "\(row)")
                #expect(try await curl.ask(purchase).status == 200, "\(row)")
            }
        }
    }

    @Test("the wait is said in each store's dialect, or as told")
    func throttles() async throws {
        try await CurlStage.with { curl in
            let purchases = try StoreName.allCases.map { try curl.stage.buy($0) }
            let waits = { (fault: String) in
                _ = curl.stage.control("POST", "/faults", fault)
                var waits: [String?] = []
                for purchase in purchases {
                    waits.append(try await curl.ask(purchase).header("retry-after"))
                }
                _ = curl.stage.control("DELETE", "/faults")
                return waits
            }
            let now = Days.start.milliseconds
            #expect(
                try await waits(#"{"kind":"throttle","retry_after":30}"#)
                    == ["\(now + 30_000)", "30", "30"])
            #expect(
                try await waits(#"{"kind":"quota_exhausted"}"#) == ["\(now + 3_600_000)", nil, nil])
            let date = "Thu, 01 Jan 2026 00:10:00 GMT"
            let fault = #"{"kind":"throttle","retry_after_text":"\#(date)"}"#
            #expect(try await waits(fault) == [date, date, date])
        }
    }

    @Test("a body is half of the right one, or holds bytes that no JSON may hold")
    func spoilsBodies() async throws {
        try await CurlStage.with { curl in
            let purchase = try curl.stage.buy(.google)
            let good = try await curl.ask(purchase).body
            _ = curl.stage.control("POST", "/faults", #"{"kind":"truncated","count":1}"#)
            let half = try await curl.ask(purchase)
            #expect(half.exit == 0 && half.body.utf8.count == good.utf8.count / 2)
            #expect(good.hasPrefix(half.body))
            _ = curl.stage.control("POST", "/faults", #"{"kind":"garbled","count":1}"#)
            let garbled = try await curl.ask(purchase)
            #expect(garbled.body.utf8.count == good.utf8.count && garbled.object.isEmpty)
            #expect(try await curl.ask(purchase).body == good)
        }
    }

    @Test("an answer is another purchase's, or an old one")
    func mixesUpAnswers() async throws {
        try await CurlStage.with { curl in
            for store in StoreName.allCases {
                let purchase = try curl.stage.buy(store, #","trial":"P3D""#)
                let other = try curl.stage.buy(store)
                _ = curl.stage.control("POST", "/faults", #"{"kind":"other_purchase","count":1}"#)
                let name = store == .google ? other.order : other.token
                #expect(try await curl.ask(purchase).body.contains(name))
            }
            let purchase = try curl.stage.buy(.amazon)
            let before = try await curl.ask(purchase).body
            _ = curl.stage.control("POST", "/clock", #"{"advance":"P40D"}"#)
            let after = try await curl.ask(purchase).body
            _ = curl.stage.control("POST", "/faults", #"{"kind":"stale","age":"P40D","count":1}"#)
            #expect(try await curl.ask(purchase).body == before && before != after)
        }
    }

    @Test("410 comes once, and then the answer")
    func isGoneOnce() async throws {
        try await CurlStage.with { curl in
            let purchase = try curl.stage.buy(.google)
            _ = curl.stage.control("POST", "/faults", #"{"kind":"gone_once"}"#)
            var statuses: [Int] = []
            for _ in 0..<3 { statuses.append(try await curl.ask(purchase).status) }
            #expect(statuses == [410, 200, 200])
        }
    }

    @Test("the token endpoint is down and the reads go on")
    func losesTheTokenEndpoint() async throws {
        try await CurlStage.with { curl in
            let purchase = try curl.stage.buy(.google)
            let bearer = try curl.stage.googleBearer()
            _ = curl.stage.control("POST", "/faults", #"{"kind":"token_down"}"#)
            let form =
                "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion="
                + (try curl.stage.assertion())
            #expect(try await curl.curl("/token", post: form).status == 503)
            let path = Stage.googlePath(purchase.token)
            #expect(try await curl.curl(path, bearer: bearer).status == 200)
            _ = curl.stage.control("DELETE", "/faults")
            #expect(try await curl.curl("/token", post: form).status == 200)
        }
    }

    @Test("verifyReceipt says one number for a while, and then the receipt")
    func stormsWithReceipts() async throws {
        try await CurlStage.with { curl in
            let purchase = try curl.stage.buy(.apple)
            let shown = curl.stage.control("GET", "/purchases/\(purchase.number)/receipt").object
            let receipt = try #require(shown["receipt"] as? String)
            let secret = curl.stage.credentials.appleSecret
            let body = #"{"receipt-data":"\#(receipt)","password":"\#(secret)"}"#
            for status in [21_002, 21_005, 21_009] {
                let fault = #"{"kind":"receipt_status","status":\#(status),"count":2}"#
                _ = curl.stage.control("POST", "/faults", fault)
                var seen: [Int] = []
                for _ in 0..<3 {
                    let sight = try await curl.curl("/verifyReceipt", post: body)
                    #expect(sight.status == 200)
                    seen.append(sight.object["status"] as? Int ?? -1)
                }
                #expect(seen == [status, status, 0])
            }
        }
    }
}
