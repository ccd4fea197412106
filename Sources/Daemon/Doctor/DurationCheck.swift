import Ledger
import Renewal

/// Judges what is granted without an end because nobody has said how long it runs (design section
/// 4, product kinds).
enum DurationCheck {
    static func findings(_ products: [EndlessProduct]) -> [Finding] {
        products.map { one in
            let count = one.purchases == 1 ? "1 purchase" : "\(one.purchases) purchases"
            return .note(
                "products",
                "\(one.app.store.rawValue) \(one.app.id): \(count) of \(one.product) granted "
                    + "without an end: no duration is configured",
                do: "add a duration, such as duration = \"P30D\", to the [[product]] \(one.product)"
            )
        }
    }
}
