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
                "the credential \(name) is empty: does the file that LoadCredential= names exist?")
        }
        return SecretBytes(bytes: bytes)
    }

    /// What is wrong with it; nil when it can be read.
    package func fault(environment: [String: String]) -> ConfigurationFault? {
        do throws(ConfigurationFault) {
            _ = try read(environment: environment)
            return nil
        } catch {
            return error
        }
    }

    /// Where the units take credentials from. Who is root may do without a unit.
    package static let folderOfUnits = "/etc/renewald/credentials"

    /// Says what is unwise though it works: a key file that other users of the machine can read.
    package func warning() -> ConfigurationFault? {
        guard case .file(let path) = form else { return nil }
        return place.warning(ofOpenFile: path)
    }

    /// Reads the file that a unit would be given, without a unit.
    ///
    /// - Parameters:
    ///   - name: of the credential.
    ///   - place: where it is configured.
    ///   - folder: where the units take it from.
    ///   - isRoot: whether this process is root's.
    /// - Returns: its bytes.
    /// - Throws: a fault at that place: for other users than root, and for files that others than
    ///   root could have put there.
    static func readAsRoot(
        _ name: String, at place: ConfigurationPlace, from folder: String = folderOfUnits,
        isRoot: Bool = ProcessOwner.isRoot
    ) throws(ConfigurationFault) -> [UInt8] {
        guard isRoot else {
            throw place.fault(
                "there is no $CREDENTIALS_DIRECTORY to read the credential \(name) from: start "
                    + "the unit, with LoadCredential=\(name):/path, or run it as root, who reads "
                    + "\(folder), or write file:/path here")
        }
        do throws(ConfigurationFault) {
            for path in [folder, "\(folder)/\(name)"] {
                try place.requireRootAlone(writes: path)
            }
            return try place.read("\(folder)/\(name)", limitBytes: sizeLimitBytes)
        } catch {
            throw place.fault(
                "there is no $CREDENTIALS_DIRECTORY to read the credential \(name) from, and "
                    + error.sentence)
        }
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
            if let directory = environment["CREDENTIALS_DIRECTORY"], !directory.isEmpty {
                return try place.read("\(directory)/\(name)", limitBytes: Self.sizeLimitBytes)
            }
            return try Self.readAsRoot(name, at: place)
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
