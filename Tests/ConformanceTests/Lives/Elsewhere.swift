import Renewal
import TestSupport

extension Realm {
    /// What a store says of what it does not know.
    var notFound: String {
        switch self {
        case .apple, .appleProducts: "4040010"
        case .receipts: "verify 21010"
        case .googleV2, .googleV1, .googleProducts, .googleProductsV1, .amazon, .amazonProducts:
            "410"
        }
    }
}

extension Telling {
    /// An answer about something else, or without a piece.
    func elsewhere(_ chance: inout SeededGenerator) -> String {
        let other = "original=8 tx=8 product=other group=21000009"
        let copy = "original=8 tx=8 product=plus"
        let end = Self.day(truth.now + .days(20))
        let over = Self.day(max(truth.now - .days(20), TestCalendar.start))
        switch truth.realm {
        case .apple:
            return chance.any([
                "none", "1:\(end) \(other)", "2:\(over) \(other) intent=1 off",
                "2:\(over) \(copy) intent=1 off", "5:\(over) \(copy) family revoked=\(over)",
            ])
        case .receipts:
            return chance.any([
                "verify 0", "verify 0 + \(over) \(other)", "verify 0 + \(over) \(copy)",
                "verify 0 empty",
            ])
        case .googleV2:
            return chance.any([
                "EXPIRED \(over) by=user order=7", "EXPIRED \(over) by=user order=-",
                "ACTIVE \(end) order=7", "ON_HOLD \(over) order=-",
            ])
        case .googleV1:
            return chance.any([
                "v1 \(over) cancel=0 order=7", "v1 \(end) renews pay=1 order=7",
                "v1 \(over) renews pay=0 order=7",
            ])
        case .appleProducts:
            return chance.any([
                "4040010 / info \(link.product) original=8 tx=8 revoked=\(over)",
                "none / info \(link.product) original=8 tx=8 revoked=\(over)",
            ])
        case .googleProducts, .googleProductsV1:
            let old = truth.realm == .googleProductsV1 ? " old" : ""
            return chance.any([
                "product CANCELLED product=\(link.product) bought=\(over) order=7\(old)",
                "product PENDING product=\(link.product) order=7\(old)",
            ])
        case .amazonProducts:
            return "ENTITLED product=\(link.product) cancelled=\(over) receipt=another"
        case .amazon:
            return chance.any([
                "off cancelled=\(over) reason=1 receipt=another", "renews \(end) receipt=another",
            ])
        }
    }
}
