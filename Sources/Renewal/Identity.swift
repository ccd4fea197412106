/// A name that identifies something, as its bytes in UTF-8: two are the same only where their
/// bytes are, as in PostgreSQL. `String` compares canonical equivalence, by which a composed and a
/// decomposed `é` are the same, and the letter K and the Kelvin sign.
///
/// A type conforms by its name and its `text`. As JSON it is that text.
package protocol Identity: Hashable, Comparable, Sendable, Codable, CustomStringConvertible,
    ExpressibleByStringInterpolation
where StringLiteralType == String, StringInterpolation == DefaultStringInterpolation {
    var text: String { get }

    init(_ text: String)
}

extension Identity {
    package static func == (left: Self, right: Self) -> Bool {
        let (one, other) = (left.text.utf8Span, right.text.utf8Span)
        // Only beyond ASCII can texts be the same by their characters and not by their bytes.
        if one.isKnownASCII, other.isKnownASCII { return left.text == right.text }
        return left.text.utf8.elementsEqual(right.text.utf8)
    }

    /// What is the same by its bytes is so in every other respect.
    package func hash(into hasher: inout Hasher) { hasher.combine(text) }

    /// As `COLLATE "C"` sorts.
    package static func < (left: Self, right: Self) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }

    package init(stringLiteral text: String) { self.init(text) }

    package init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode(String.self))
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }

    package var description: String { text }

    package var isEmpty: Bool { text.isEmpty }
}

/// A user of the app, as the app's backend names them.
package struct UserID: Identity {
    package let text: String
    package init(_ text: String) { self.text = text }
}

/// A user as a store names them: Amazon's user id.
package struct StoreUserID: Identity {
    package let text: String
    package init(_ text: String) { self.text = text }
}

/// An app as its store names it: a bundle id or package name.
package struct AppID: Identity {
    package let text: String
    package init(_ text: String) { self.text = text }
}

/// A product as its store names it.
package struct ProductID: Identity {
    package let text: String
    package init(_ text: String) { self.text = text }
}

/// What a user may do, such as `pro`.
package struct EntitlementID: Identity {
    package let text: String
    package init(_ text: String) { self.text = text }
}

/// An order, a transaction or a period, as its store names it.
package struct OrderID: Identity {
    package let text: String
    package init(_ text: String) { self.text = text }
}

/// A group of subscriptions of which a customer holds one at a time.
package struct GroupID: Identity {
    package let text: String
    package init(_ text: String) { self.text = text }
}

/// A piece of news, as its source names it.
package struct NewsID: Identity {
    package let text: String
    package init(_ text: String) { self.text = text }
}

/// What answers for many sources of hints, such as Google's voided purchases.
package struct EndpointID: Identity {
    package let text: String
    package init(_ text: String) { self.text = text }
}

/// A source of hints.
package struct SourceID: Identity {
    package let text: String
    package init(_ text: String) { self.text = text }
}

/// A row of calls that workers share.
package struct BucketID: Identity {
    package let text: String
    package init(_ text: String) { self.text = text }
}

extension BucketID {
    /// The row of calls that all draw from: the background, and whoever waits at a terminal.
    package init(of app: AppKey) { self.init(app.name) }

    /// Not a quota: blocked for as long as a worker's circuit is open, so that others can tell.
    package init(ofCircuitOf app: AppKey) {
        self.init("\(app.name)/circuit")
    }
}

/// What a store is asked with. A secret: it is never shown.
package struct StoreToken: Identity, CustomDebugStringConvertible, CustomReflectable {
    package let text: String
    package init(_ text: String) { self.text = text }

    package var description: String { "***" }
    package var debugDescription: String { "***" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

extension ProductID {
    /// What a product that is not configured grants: its own id.
    package var entitlement: EntitlementID { EntitlementID(text) }

    /// Where the store has no groups, the product is its own.
    package var group: GroupID { GroupID(text) }
}
