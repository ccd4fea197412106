import Renewal
import Testing

@Suite struct MoneyTests {
    @Test(
        arguments: [
            (6, 990_000_000, "6.99"), (0, 0, "0"), (7, 0, "7"), (0, 1, "0.000000001"),
            (0, -250_000_000, "-0.25"), (-3, -500_000_000, "-3.5"), (Int64.max, 999_999_999, nil),
            (Int64.min, 0, "-9223372036854775808"), (1, 1_000_000_000, nil), (1, -1, nil),
            (-1, 1, nil), (0, Int64.min, nil),
        ] as [(Int64, Int64, String?)])
    func writesAnAmountExactly(_ units: Int64, _ nanos: Int64, _ text: String?) {
        let expected = units == Int64.max ? "9223372036854775807.999999999" : text
        #expect(Money(currency: "EUR", units: units, nanos: nanos)?.text == expected)
    }

    @Test(arguments: [(6_990_000, "6.99"), (-1, "-0.000001"), (0, "0"), (5_000_000, "5")])
    func readsMillionths(_ micros: Int64, _ text: String) {
        #expect(Money(currency: "EUR", micros: micros)?.text == text)
    }

    @Test(arguments: [nil, "", "eur", "EU", "EURO", "E€"])
    func needsACurrency(_ currency: String?) {
        #expect(Money(currency: currency, units: 1, nanos: 0) == nil)
    }

    @Test(
        arguments: [
            (1, 4, "0.25"), (1, 3, "0.3333"), (2, 3, "0.6667"), (0, 3, "0"), (9, 3, "1"),
            (1, 0, nil),
            (-1, 3, nil),
        ] as [(Int64, Int64, String?)])
    func saysWhatShareItIs(_ part: Int64, _ whole: Int64, _ text: String?) throws {
        let amounts = [part, whole].compactMap { Money(currency: "EUR", units: $0, nanos: 0) }
        #expect(amounts[0].share(of: amounts[1])?.text == text)
        #expect(Share(part, of: whole)?.text == text)
    }

    @Test func isNoShareOfAnotherCurrency() {
        let amounts = ["EUR", "USD"].compactMap { Money(currency: $0, units: 1, nanos: 0) }
        #expect(amounts[0].share(of: amounts[1]) == nil)
        #expect(Money.sum(amounts) == nil && Money.sum([]) == nil)
        let most = amounts.prefix(1).compactMap {
            Money(currency: $0.currency, units: .max, nanos: 999_999_999)
        }
        #expect(Money.sum(most + most) == nil)
        #expect(Money.sum([amounts[0], amounts[0]])?.text == "2")
    }
}
