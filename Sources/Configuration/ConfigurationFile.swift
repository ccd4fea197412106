import FoundationEssentials
import Renewal

extension Settings {
    /// Largest configuration that is read, in bytes.
    private static let sizeLimitBytes = 4 << 20

    /// Reads and checks the file whole.
    ///
    /// Throws every fault that was found, not only the first; the file's path is in each. The
    /// environment is the process's, for a database address that is kept as a secret.
    package static func load(
        file: String, environment: [String: String]
    ) throws(ConfigurationFaults) -> Settings {
        let bytes: [UInt8]
        do throws(ConfigurationFault) {
            let place = ConfigurationPlace(file: file, line: nil, key: "")
            bytes = try place.read(file, limitBytes: sizeLimitBytes)
        } catch {
            // As the package installs it, it is for root and the daemon's group.
            let advice =
                error.sentence == ConfigurationPlace.forbidden
                ? "run it as root, or as a user or member of the group that `ls -l` shows"
                : "write one (etc/renewald.toml lists every key) or name another with --config"
            throw ConfigurationFaults([
                ConfigurationFault(file: file, sentence: "\(error.sentence): \(advice)")
            ])
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw ConfigurationFaults([
                ConfigurationFault(file: file, sentence: "is not UTF-8 text: save it as UTF-8")
            ])
        }
        return try parse(text: text, file: file, environment: environment)
    }

    /// Checks a configuration that is at hand as text; faults call it by the file's name.
    ///
    /// Throws every fault that was found.
    package static func parse(
        text: String, file: String, environment: [String: String]
    ) throws(ConfigurationFaults) -> Settings {
        var text = text
        if text.unicodeScalars.first == "\u{FEFF}" { text.unicodeScalars.removeFirst() }
        let root: [String: TOMLNode]
        do throws(TOMLComplaint) {
            root = try TOMLNode.parse(text)
        } catch {
            throw ConfigurationFaults([
                ConfigurationFault(file: file, line: error.line, sentence: error.sentence)
            ])
        }
        var builder = ConfigurationBuilder(root: root, lines: TOMLLines(text), file: file)
        var configuration = builder.build(environment: environment)
        configuration.written = root
        guard builder.faults.isEmpty else { throw ConfigurationFaults(builder.faults) }
        return configuration
    }
}
