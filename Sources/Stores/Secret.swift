/// A credential. Whatever prints, dumps or reflects on it sees `***`.
package struct Secret: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// The credential itself.
    let text: String

    package init(_ text: String) {
        self.text = text
    }

    package var description: String { "***" }
    package var debugDescription: String { "***" }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// A credential that cannot be used.
package struct CredentialFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The wrong field, such as `private_key`.
    package let field: String
    /// What is wrong with it, never what is in it: `is not a P-256 key in PKCS#8 PEM`.
    package let sentence: String

    package init(field: String, sentence: String) {
        self.field = field
        self.sentence = sentence
    }

    package var description: String { "\(field) \(sentence)" }
}
