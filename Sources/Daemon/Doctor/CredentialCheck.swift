import Configuration
import Renewal
import Stores

/// Looks at each secret and certificate by itself: whether it can be read, and whether it is what
/// it should be.
struct CredentialCheck {
    let configuration: Settings
    let factory: StoreClientFactory
    private(set) var findings: [Finding] = []
    /// The apps that can be asked about.
    private(set) var usable: [App] = []

    static let subject = "credentials"

    init(_ configuration: Settings, _ factory: StoreClientFactory) {
        self.configuration = configuration
        self.factory = factory
    }

    /// - Parameter now: what the end of a certificate is compared with.
    mutating func run(at now: Timestamp) {
        let isRooted = look(atCertificates: now)
        for app in configuration.apps {
            let count = findings.count { $0.level == .wrong }
            app.ofStore.look(with: &self)
            let isWhole = findings.count { $0.level == .wrong } == count
            if isWhole, isRooted || app.key.store != .apple { usable.append(app) }
        }
    }

    // MARK: Secrets

    mutating func look(
        at source: SecretSource, _ what: String,
        _ check: (StoreClientFactory) throws(ConfigurationFault) -> [Finding]
    ) {
        do throws(ConfigurationFault) {
            let remarks = try check(factory)
            findings += remarks.isEmpty ? [.ok(Self.subject, what)] : remarks
            if let warning = source.warning() {
                findings.append(.note(Self.subject, warning.description))
            }
        } catch {
            findings.append(.wrong(Self.subject, error.description, do: advice(source.form)))
        }
    }

    private func advice(_ form: SecretSource.Form) -> String {
        switch form {
        case .credential(let name):
            "put the file into \(SecretSource.folderOfUnits) and name it in LoadCredential= of the "
                + "unit (\(name)); outside a unit run it as root, or as the daemon's user: "
                + "`systemd-run --pipe --wait --uid=renewald \(loads) renewald doctor`"
        case .file(let path):
            "put the file from the store's console there, readable by the daemon's user alone: "
                + "`install -m 0600 -o renewald FILE \(path)`"
        case .environment(let name): "set \(name) to what the store's console gave you"
        }
    }

    /// What hands on every credential that the configuration names.
    private var loads: String {
        var names: [String] = []
        for case .credential(let name) in configuration.apps.flatMap(\.secrets).map(\.form)
        where !names.contains(name) {
            names.append(name)
        }
        return names.map { name in
            "--property=LoadCredential=\(name):\(SecretSource.folderOfUnits)/\(name)"
        }.joined(separator: " ")
    }

    // MARK: Certificates

    /// - Returns: whether Apple's answers can be verified at all.
    private mutating func look(atCertificates now: Timestamp) -> Bool {
        var isRooted = true
        if let root = configuration.stores.apple.rootCertificate {
            let found = look(at: root, "root_certificate of apple", now)
            isRooted = found != nil
            let url = configuration.stores.apple.baseURL
            if let remark = found.flatMap({ Self.remark(onRoot: $0, of: url) }) {
                findings.append(remark)
            }
        } else if let ends = try? CertificateFile(AppleRoots.g3).ends {
            findings.append(Self.judge(ends, "Apple Root CA - G3, built in", now))
        }
        for store in Store.allCases {
            guard let file = configuration.stores.tlsCA(store) else { continue }
            _ = look(at: file, "tls_ca of \(store.rawValue)", now)
        }
        return isRooted
    }

    /// - Returns: the file, where it can be used.
    private mutating func look(
        at file: InputFile, _ name: String, _ now: Timestamp
    ) -> CertificateFile? {
        do throws(ConfigurationFault) {
            let bytes = try file.read()
            let found = try factory.made(file.place) { () throws(CredentialFault) in
                try CertificateFile(bytes)
            }
            findings.append(Self.judge(found.ends, name, now))
            return findings.last?.level == .wrong ? nil : found
        } catch {
            findings.append(
                .wrong(
                    Self.subject, error.description,
                    do: "put a PEM certificate there, or remove the key to use the default")
            )
            return nil
        }
    }

    /// Apple's own answers are signed under its G3 root, and it may have another one some day. A
    /// simulator has a root of its own.
    static func remark(onRoot file: CertificateFile, of baseURL: String) -> Finding? {
        guard baseURL.hasSuffix(".apple.com"), !file.inDER.contains(AppleRoots.g3) else {
            return nil
        }
        return .note(
            subject,
            "root_certificate of apple: is not Apple Root CA - G3; nothing that is signed under "
                + "that root is believed",
            do: "remove the key, unless Apple has announced another root")
    }

    /// How long before its end a certificate is worth a word.
    static let warningTime = Duration.days(30)

    static func judge(_ ends: [Timestamp], _ name: String, _ now: Timestamp) -> Finding {
        let last = ends.max() ?? now
        let expired = ends.count { $0 <= now }
        let advice = "get its successor and name that file"
        if expired == ends.count {
            return .wrong(subject, "\(name): expired at \(last.text)", do: advice)
        }
        if last - now < warningTime {
            return .note(subject, "\(name): expires at \(last.text)", do: advice)
        }
        if expired > 0 {
            return .note(subject, "\(name): \(expired) of \(ends.count) certificates have expired")
        }
        return .ok(subject, "\(name): valid until \(last.text)")
    }
}
