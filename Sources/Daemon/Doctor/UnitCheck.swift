import Renewal
import Crypto
import FoundationEssentials

/// Compares the unit files of the machine with those that belong to this program.
struct UnitCheck {
    private let root: String

    /// `root` is the folder of an image; empty is this machine.
    init(root: String) {
        self.root = root
    }

    /// Where systemd looks, the strongest first.
    ///
    /// <https://www.freedesktop.org/software/systemd/man/latest/systemd.unit.html>
    private static let folders = [
        "/etc/systemd/system", "/run/systemd/system", "/usr/local/lib/systemd/system",
        "/usr/lib/systemd/system", "/lib/systemd/system",
    ]
    private static let subject = "units"
    /// Larger files are no units.
    private static let sizeLimitBytes = 1 << 20

    func run() -> [Finding] {
        let found = UnitDigests.all.keys.sorted().map { unit in (unit, place(of: unit)) }
        guard found.contains(where: { $0.1 != nil }) else {
            return [
                .note(
                    Self.subject, "none are installed",
                    do: "for systemd: `make install`, or the Debian package of `make deb`")
            ]
        }
        return found.map { unit, place in judge(unit, place) }
    }

    private func place(of unit: String) -> String? {
        Self.folders.map { "\(root)\($0)/\(unit)" }
            .first { FileManager.default.fileExists(atPath: $0) || isMasked($0) }
    }

    /// A masked unit is a link to nothing, or to `/dev/null`.
    private func isMasked(_ path: String) -> Bool {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: path)) == "/dev/null"
    }

    private func judge(_ unit: String, _ place: String?) -> Finding {
        let install =
            "install those of this version (`make install` or the package), run `systemctl "
            + "daemon-reload`, and keep your settings in a drop-in: `systemctl edit \(unit)`"
        guard let place else {
            return .note(Self.subject, "\(unit) is not installed", do: install)
        }
        if isMasked(place) {
            return .note(Self.subject, "\(unit) is masked", do: "`systemctl unmask \(unit)`")
        }
        guard let bytes = try? Data(contentsOf: URL(filePath: place)),
            bytes.count <= Self.sizeLimitBytes
        else {
            return .wrong(Self.subject, "\(place) cannot be read", do: install)
        }
        let digest = Self.digest(of: bytes)
        guard digest == UnitDigests.all[unit] else {
            return .wrong(
                Self.subject, "\(place) \(Self.difference(Self.version(in: bytes)))", do: install)
        }
        let dropIns = self.dropIns(of: unit)
        let with = dropIns.isEmpty ? "" : ", with \(dropIns.joined(separator: ", "))"
        return .ok(Self.subject, "\(unit) is that of this version\(with)")
    }

    private static func difference(_ version: String?) -> String {
        switch version {
        case Version.text: "was changed"
        case .some(let version): "is of version \(version), this program is \(Version.text)"
        case nil: "is not one of renewald \(Version.text)"
        }
    }

    /// In hexadecimal.
    static func digest(of bytes: Data) -> String {
        SHA256.hash(data: bytes).hexDigits
    }

    /// systemd ignores keys that begin with `X-`.
    static func version(in bytes: Data) -> String? {
        let mark = "X-Renewald-Version="
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n")
            .first { $0.hasPrefix(mark) }.map { String($0.dropFirst(mark.count)) }
    }

    private func dropIns(of unit: String) -> [String] {
        Self.folders.flatMap { folder -> [String] in
            let path = "\(root)\(folder)/\(unit).d"
            let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
            return names.filter { $0.hasSuffix(".conf") }.sorted().map { "\(path)/\($0)" }
        }
    }
}
