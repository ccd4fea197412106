/// Where a secret is kept: `credential:NAME`, `file:/path` or `env:NAME`.
///
/// Only the place is configuration. The bytes are read when they are needed, and again after a
/// reload.
package struct SecretSource: Hashable, Sendable {
    package enum Form: Hashable, Sendable {
        /// The file of that name in `$CREDENTIALS_DIRECTORY`, as systemd's `LoadCredential=` fills
        /// it: https://systemd.io/CREDENTIALS/
        case credential(name: String)
        /// An absolute path.
        case file(path: String)
        /// The value of an environment variable.
        case environment(name: String)
    }

    package let form: Form
    package let place: ConfigurationPlace

    package init(form: Form, place: ConfigurationPlace) {
        self.form = form
        self.place = place
    }

    /// Largest file that is read, in bytes.
    package static let sizeLimitBytes = 1 << 20

    /// Reads the secret, without the line ends after it. The environment is the process's, for
    /// `credential:` and `env:`.
    ///
    /// Throws a fault at the place where the source is configured. It never holds the secret.
    package func read(environment: [String: String]) throws(ConfigurationFault) -> SecretBytes {
        var bytes = try readWhole(environment)
        while let last = bytes.last, last == UInt8(ascii: "\n") || last == UInt8(ascii: "\r") {
            bytes.removeLast()
        }
        guard !bytes.isEmpty else {
            guard case .credential(let name) = form else {
                throw place.fault("the secret is empty")
            }
            // The units hand on an empty one where the file is not there.
            throw place.fault(
                "the credential \(name) is empty: is the file that LoadCredential= names there?")
        }
        return SecretBytes(bytes: bytes)
    }

    /// Says what is unwise though it works: a key file that other users of the machine can read.
    package func warning() -> ConfigurationFault? {
        guard case .file(let path) = form else { return nil }
        return place.warning(ofOpenFile: path)
    }

    private func readWhole(
        _ environment: [String: String]
    ) throws(ConfigurationFault) -> [UInt8] {
        switch form {
        case .environment(let name):
            guard let value = environment[name] else {
                throw place.fault("the environment variable \(name) is not set")
            }
            return Array(value.utf8)
        case .file(let path):
            return try place.read(path, limitBytes: Self.sizeLimitBytes)
        case .credential(let name):
            guard let directory = environment["CREDENTIALS_DIRECTORY"], !directory.isEmpty else {
                throw place.fault(
                    "there is no $CREDENTIALS_DIRECTORY to read the credential \(name) from: add "
                        + "LoadCredential=\(name):/path to the unit, or write file:/path here")
            }
            return try place.read("\(directory)/\(name)", limitBytes: Self.sizeLimitBytes)
        }
    }
}

/// Bytes that must not be seen: a key, a password. However it is printed, it says `(hidden)`.
package struct SecretBytes: Hashable, Sendable, CustomStringConvertible,
    CustomDebugStringConvertible, CustomReflectable
{
    package let bytes: [UInt8]

    package init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The bytes as UTF-8. Nil when they are not.
    package var text: String? { String(validating: bytes, as: UTF8.self) }

    package var description: String { "(hidden)" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
