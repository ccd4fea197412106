/// A piece of a page. Only its own marks are markup: all text is escaped where it is put in.
struct Markup: Hashable, Sendable {
    let source: String

    static func text(_ text: String) -> Markup { Markup(source: escaped(text)) }

    /// The text of a style sheet, which is not escaped.
    static func style(_ sheet: StaticString) -> Markup {
        Markup(source: "<style>\(sheet)</style>")
    }

    static let doctype = Markup(source: "<!doctype html>\n")

    /// One that has an end of its own.
    static func element(
        _ name: StaticString, _ attributes: KeyValuePairs<StaticString, String>,
        _ content: [Markup]
    ) -> Markup {
        let inner = content.map(\.source).joined()
        return Markup(source: "<\(name)\(list(attributes))>\(inner)</\(name)>")
    }

    static func element(_ name: StaticString, _ content: [Markup]) -> Markup {
        element(name, [:], content)
    }

    static func element(
        _ name: StaticString, _ attributes: KeyValuePairs<StaticString, String> = [:],
        text: String
    ) -> Markup {
        element(name, attributes, [.text(text)])
    }

    /// One without content or end, such as `meta`.
    static func void(
        _ name: StaticString, _ attributes: KeyValuePairs<StaticString, String>
    ) -> Markup {
        Markup(source: "<\(name)\(list(attributes))>")
    }

    private static func list(_ attributes: KeyValuePairs<StaticString, String>) -> String {
        attributes.map { " \($0.key)=\"\(escaped($0.value))\"" }.joined()
    }

    private static func escaped(_ text: String) -> String {
        var shown = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": shown += "&amp;"
            case "<": shown += "&lt;"
            case ">": shown += "&gt;"
            case "\"": shown += "&quot;"
            case "'": shown += "&#39;"
            case _ where scalar.steers: shown += "\u{fffd}"
            default: shown.unicodeScalars.append(scalar)
            }
        }
        return shown
    }
}
