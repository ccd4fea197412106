import Testing

@testable import StoreSimulator

/// The test calendar: day 0 is 2026-01-01T00:00:00Z, so January ends at 31, February at 59, March
/// at 90, April at 120.
enum Days {
    static let start = Instant(Instant.Civil(year: 2026, month: 1, day: 1, millisecondOfDay: 0))

    static func instant(_ day: Double) -> Instant {
        start + Int64((day * Double(Instant.day)).rounded())
    }

    static func day(_ instant: Instant) -> Double {
        (Double(instant - start) / Double(Instant.day) * 1000).rounded() / 1000
    }

    /// `cancel@5 uncancel@6`, or `-` for none.
    static func timeline(_ store: StoreName, _ deeds: String, _ terms: Terms) throws -> Timeline {
        var timeline = Timeline(store: store, product: "pro", start: start, terms: terms)
        for text in deeds.split(separator: " ") where text != "-" {
            let sides = text.split(separator: "@")
            let day = try #require(Double(sides[1]))
            timeline.add(try deed(sides[0]), at: instant(day))
        }
        return timeline
    }

    private static func deed(_ text: Substring) throws -> Deed {
        switch text {
        case "pause": .pause(.days(14))
        case "upgrade": .upgrade(product: "max")
        case "downgrade": .changeAtRenewal(product: "mini")
        case "replaced": .supersede
        default: try ControlReader.deed(snake(text), DeedRequest(), .apple)
        }
    }

    /// `failPayment` as control calls spell it.
    private static func snake(_ text: Substring) -> Substring {
        Substring(text.map { $0.isUppercase ? "_" + $0.lowercased() : String($0) }.joined())
    }
}
