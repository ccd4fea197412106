/// What every page begins with: it needs nothing else and runs nothing.
struct PageFrame {
    let title: String

    /// Nothing is loaded or run; the one style sheet is known by its digest.
    private static let policy =
        "default-src 'none'; style-src 'sha256-\(PageStyle.digest)'; base-uri 'none'; "
        + "form-action 'none'"

    /// The whole document.
    func html(_ body: [Markup]) -> String {
        let head = Markup.element(
            "head",
            [
                .void("meta", ["charset": "utf-8"]),
                .void(
                    "meta", ["http-equiv": "Content-Security-Policy", "content": Self.policy]),
                .void(
                    "meta",
                    ["name": "viewport", "content": "width=device-width, initial-scale=1"]),
                .void("meta", ["name": "referrer", "content": "no-referrer"]),
                .void("meta", ["name": "robots", "content": "noindex"]),
                .element("title", text: title),
                .style(PageStyle.sheet),
            ])
        let page = Markup.element(
            "html", ["lang": "en"], [head, .element("body", body)])
        return Markup.doctype.source + page.source + "\n"
    }
}
