import FoundationEssentials

/// A file that the configuration names, such as a certificate. Not a secret.
package struct InputFile: Hashable, Sendable {
    /// Absolute.
    package let path: String
    package let place: ConfigurationPlace

    /// Largest file that is read, in bytes.
    package static let sizeLimitBytes = 1 << 20

    /// - Throws: a fault at the place where the file is named.
    package func read() throws(ConfigurationFault) -> [UInt8] {
        try place.read(path, limitBytes: Self.sizeLimitBytes)
    }
}

extension ConfigurationPlace {
    /// Reads a whole file.
    ///
    /// - Throws: a fault at this place: missing, not a plain file, unreadable, empty or too large.
    func read(_ path: String, limitBytes: Int) throws(ConfigurationFault) -> [UInt8] {
        let attributes = try attributes(of: path)
        let it = subject(path)
        guard attributes[.type] as? FileAttributeType == .typeRegular else {
            throw fault("\(it)is not a plain file")
        }
        guard let size = number(attributes[.size]) else { throw fault("\(it)has no size") }
        guard size <= UInt64(limitBytes) else {
            throw fault("\(it)is larger than \(limitBytes) bytes")
        }
        guard size > 0 else { throw fault("\(it)is empty") }
        do {
            return Array(try Data(contentsOf: URL(filePath: path)))
        } catch {
            throw fault(sentence(for: error, path))
        }
    }

    /// Refuses what others than root could have changed.
    func requireRootAlone(writes path: String) throws(ConfigurationFault) {
        let attributes = try attributes(of: path)
        let mode = number(attributes[.posixPermissions]) ?? 0o777
        guard number(attributes[.ownerAccountID]) == 0, mode & 0o022 == 0 else {
            throw fault("\(path) can be changed by others than root, so it is not read as root")
        }
    }

    /// Warns of a file that other users of the machine can read.
    func warning(ofOpenFile path: String) -> ConfigurationFault? {
        guard let attributes = try? attributes(of: path),
            let mode = number(attributes[.posixPermissions]), mode & 0o004 != 0
        else { return nil }
        return fault("every user of this machine can read \(path): run chmod o-r \(path)")
    }

    /// Follows symbolic links, as mounted secrets are often links.
    private func attributes(
        of path: String
    ) throws(ConfigurationFault) -> [FileAttributeKey: Any] {
        do {
            let target = URL(filePath: path).resolvingSymlinksInPath().path
            return try FileManager.default.attributesOfItem(atPath: target)
        } catch {
            throw fault(sentence(for: error, path))
        }
    }

    /// A number among the attributes of a file. Its type depends on how much of Foundation is
    /// linked: the whole of it brings any integer, the essentials bring one of these.
    private func number(_ attribute: Any?) -> UInt64? {
        attribute as? UInt64 ?? (attribute as? UInt).map(UInt64.init)
            ?? (attribute as? Int).flatMap(UInt64.init(exactly:))
    }

    private func sentence(for error: any Error, _ path: String) -> String {
        switch (error as? CocoaError)?.code {
        case CocoaError.fileNoSuchFile, CocoaError.fileReadNoSuchFile:
            "\(subject(path))does not exist"
        case CocoaError.fileReadNoPermission: "\(subject(path))\(Self.forbidden)"
        default: "\(subject(path))cannot be read"
        }
    }

    /// What is said of a file that this user may not read.
    static let forbidden = "may not be read by this user"

    /// The path, unless the fault begins with it.
    private func subject(_ path: String) -> String { path == file ? "" : "\(path) " }
}
