/// An amount in whole units of its currency and billionths of one, exactly as a store gives it.
package struct Money: Hashable, Sendable {
    /// ISO 4217.
    package let currency: String
    let units: Int64
    /// Less than a whole unit, and of the same sign.
    let nanos: Int64

    /// Nil for what is no amount.
    package init?(currency: String?, units: Int64, nanos: Int64) {
        guard let currency, currency.utf8.count == 3,
            currency.utf8.allSatisfy({ (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }),
            nanos.magnitude < 1_000_000_000,
            units == 0 || nanos == 0 || (units < 0) == (nanos < 0)
        else { return nil }
        self.currency = currency
        self.units = units
        self.nanos = nanos
    }

    /// Millionths of a unit.
    package init?(currency: String?, micros: Int64) {
        self.init(
            currency: currency, units: micros / 1_000_000, nanos: micros % 1_000_000 * 1000)
    }

    /// As a decimal number in units of the currency, such as `6.99`, of any size.
    package var text: String {
        let sign = units < 0 || nanos < 0 ? "-" : ""
        guard nanos != 0 else { return sign + "\(units.magnitude)" }
        let digits = String(nanos.magnitude)
        var fraction = String(repeating: "0", count: 9 - digits.utf8.count) + digits
        while fraction.utf8.last == UInt8(ascii: "0") { fraction.removeLast() }
        return sign + "\(units.magnitude).\(fraction)"
    }

    private var total: Int128 { Int128(units) * 1_000_000_000 + Int128(nanos) }

    /// The sum of amounts of one currency; nil where they are of several, or too many.
    package static func sum(_ amounts: [Money]) -> Money? {
        guard let first = amounts.first, amounts.allSatisfy({ $0.currency == first.currency })
        else { return nil }
        let total = amounts.reduce(0 as Int128) { $0 + $1.total }
        guard let units = Int64(exactly: total / 1_000_000_000) else { return nil }
        return Money(
            currency: first.currency, units: units, nanos: Int64(total % 1_000_000_000))
    }

    /// How much of `whole` this is; nil where that cannot be said.
    package func share(of whole: Money) -> Share? {
        guard currency == whole.currency, whole.total > 0, total >= 0 else { return nil }
        return Share(part: total, of: whole.total)
    }
}

/// A part of a whole, in ten thousandths: 0 to 10,000.
package struct Share: Hashable, Sendable {
    let tenThousandths: Int64

    fileprivate init(part: Int128, of whole: Int128) {
        tenThousandths = Int64(min((part * 10_000 + whole / 2) / whole, 10_000))
    }

    /// `part` of `whole` pieces; nil where there are none.
    package init?(_ part: Int64, of whole: Int64) {
        guard whole > 0, part >= 0 else { return nil }
        self.init(part: Int128(part), of: Int128(whole))
    }

    /// As a decimal number from 0 to 1, such as `0.25`.
    package var text: String {
        Money(currency: "EUR", micros: tenThousandths * 100)?.text ?? "0"
    }
}
