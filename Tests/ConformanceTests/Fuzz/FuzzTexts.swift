import Foundation
import Renewal

@testable import Stores

// What is read of a text, whoever has sent it.
extension FuzzTargets {
    static func texts() throws -> FuzzTarget {
        let seeds = [
            "2026-02-15T10:20:28.912345678Z", "2026-02-15T10:20:28+02:00",
            "Fri, 20 Mar 2026 12:00:30 GMT", "1774008030000", "120", "GPA.3301-7742..0",
            "https://api.example.com:443", "eyJhbGciOiJub25lIn0.e30.", "1774008030000 - page",
            "1771585200000 1771588000000 page", "2026-03-17 09:15:00 Etc/GMT",
            #"{"production":{"readUpTo":1774008000000,"seen":["a"]}}"#,
            #"{ "a" = "b\"c"; "d" = e; }"#,
        ].map { Array($0.utf8) }
        return FuzzTarget(name: "dates, ids, addresses, JWS", seeds: seeds) { input, _ in
            let text = String(decoding: input, as: UTF8.self)
            let date = CalendarTime.timestamp(rfc3339: text)
            if let date, CalendarTime.timestamp(rfc3339: date.text) == nil {
                let text = date.text
                throw FuzzTarget.Broken(description: "a date that cannot be read again: \(text)")
            }
            _ = CalendarTime.timestamp(httpDate: text)
            _ = AppleReceiptTransaction.milliseconds(text)
            let delay = RetryAfter.delay(text, at: day)
            if let delay, delay < .seconds(1) || delay > .seconds(3600) {
                throw FuzzTarget.Broken(description: "a delay out of its bounds")
            }
            _ = GoogleOrderID(OrderID(text))
            if let place = VoidedPlace(text) {
                guard VoidedPlace(place.text) == place, place.start(at: day) >= day - .days(30)
                else { throw FuzzTarget.Broken(description: "a place to go on from that is not") }
            }
            _ = AppleHistoryPosition(text: text).text
            _ = StoreHost(baseURL: text)
            _ = CompactJWS(text)?.payload
            _ = ApplePropertyList(input)
            return date != nil || (try? PathSegment(text, what: "token")) != nil
        }
    }

    /// What our reader of JSON takes, Foundation's takes too, and both see the same texts.
    static func readersOfJSON() throws -> FuzzTarget {
        struct Texts: Decodable {
            let subscriptionState: String?
            let latestOrderId: String?
        }
        let seeds = FuzzTarget.seeds(.google) { cell, _ in
            cell.hasPrefix("v1") || cell.hasPrefix("product") ? nil : try GoogleScene.body(cell)
        }
        return FuzzTarget(name: "readers of JSON", seeds: seeds) { input, _ in
            guard let json = try? JSONObject(input),
                let state = try? json.text("subscriptionState"),
                let order = try? json.text("latestOrderId")
            else { return false }
            // Half of a pair in a member that nobody reads is Foundation's alone to refuse.
            guard !String(decoding: input, as: UTF8.self).lowercased().contains(#"\ud"#) else {
                return false
            }
            let other = try? JSONDecoder().decode(Texts.self, from: Data(input))
            guard other?.subscriptionState == state, other?.latestOrderId == order else {
                throw FuzzTarget.Broken(description: "the two readers differ")
            }
            return true
        }
    }
}
