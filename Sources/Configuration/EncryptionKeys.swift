import Renewal

/// `[encryption]`.
package struct EncryptionKeys: KeyGroup {
    package init() {}

    package static let section = ConfigurationSection(
        "encryption",
        """
        Tokens, receipts and the stores' whole answers can be encrypted in the database, so that
        they are not in its backups in clear. See docs/operations.md before you switch it on.
        """)

    package let keys = Key(
        "keys", .secrets, or: "nothing is encrypted",
        example: .list(["credential:at-rest-key"]), .live,
        """
        The keys, the newest first: it encrypts, all can decrypt. Each is 32 bytes in base64:
        openssl rand -base64 32
        Whoever loses a key loses what is encrypted with it: keep a copy apart from backups.
        """)
    package let mode = Key(
        "mode", .choice, default: EncryptionMode.encrypt, .live,
        """
        With "decrypt" everything is written in clear, and renewald rekey decrypts what is there:
        so encryption is switched off, and after that the keys can go.
        """)
}

/// What is done with what is written.
package enum EncryptionMode: String, Hashable, Sendable, CaseIterable {
    case encrypt, decrypt
}
