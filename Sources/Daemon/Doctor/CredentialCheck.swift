import Configuration
import Renewal
import Stores

/// Looks at each secret and certificate by itself: whether it can be read, and whether it is what
/// it should be.
struct CredentialCheck {
    let configuration: Settings
    let maker: StoreClientFactory
    private(set) var findings: [Finding] = []
    /// The apps that can be asked about.
    private(set) var usable: [App] = []

    private static let subject = "credentials"

    init(_ configuration: Settings, _ maker: StoreClientFactory) {
        self.configuration = configuration
        self.maker = maker
    }

    /// - Parameter now: what the end of a certificate is compared with.
    mutating func run(at now: Timestamp) {
        let isRooted = look(atCertificates: now)
        for app in configuration.apps {
            let count = findings.count { $0.level == .wrong }
            switch app {
            case .apple(let app): look(at: app)
            case .google(let app): look(at: app)
            case .amazon(let app): look(at: app)
            }
            let isWhole = findings.count { $0.level == .wrong } == count
            if isWhole, isRooted || app.key.store != .apple { usable.append(app) }
        }
    }

    // MARK: Secrets

    private mutating func look(at app: AppleApp) {
        if let key = app.apiKey {
            look(at: key.privateKey, "apple \(app.id): a P-256 key") {
                maker throws(ConfigurationFault) in
                let apiKey = try maker.secretKey(key)
                try maker.made(key.privateKey.place) { () throws(CredentialFault) in
                    try apiKey.check(bundleID: app.id)
                }
                return apiKey.oddIDs.map { odd in
                    .note(
                        Self.subject, "apple \(app.id): \(odd)",
                        do: "compare it with App Store Connect, Users and Access, Integrations, "
                            + "In-App Purchase")
                }
            }
        }
        if let secret = app.sharedSecret {
            look(at: secret, "apple \(app.id): a shared secret") {
                maker throws(ConfigurationFault) in
                _ = try maker.secret(secret)
                return []
            }
        }
    }

    private mutating func look(at app: GoogleApp) {
        look(at: app.serviceAccount, "google \(app.id): the key of a service account") {
            maker throws(ConfigurationFault) in
            let credentials = try maker.credentials(of: app)
            try maker.made(app.serviceAccount.place) { () throws(CredentialFault) in
                _ = try credentials.check()
            }
            return []
        }
    }

    private mutating func look(at app: AmazonApp) {
        look(at: app.sharedSecret, "amazon \(app.id): a shared key") {
            maker throws(ConfigurationFault) in
            let credentials = try maker.credentials(of: app)
            try maker.made(app.sharedSecret.place) { () throws(CredentialFault) in
                try credentials.check()
            }
            return []
        }
    }

    private mutating func look(
        at source: SecretSource, _ what: String,
        _ check: (StoreClientFactory) throws(ConfigurationFault) -> [Finding]
    ) {
        do throws(ConfigurationFault) {
            let remarks = try check(maker)
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
                + "unit (\(name)); outside of a unit run it as root, or as the daemon's user: "
                + "`systemd-run --pipe --wait --uid=renewald \(loads) renewald doctor`"
        case .file(let path):
            "put there what the store's console gave you, readable for the daemon's user alone: "
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
            isRooted = look(at: root, "root_certificate of apple", now)
        } else if let end = try? CertificateFile.ends(in: AppleRoots.g3).first {
            findings.append(Self.judge([end], "Apple Root CA - G3, built in", now))
        }
        for store in Store.allCases {
            guard let file = configuration.stores.tlsCA(store) else { continue }
            _ = look(at: file, "tls_ca of \(store.rawValue)", now)
        }
        return isRooted
    }

    private mutating func look(at file: InputFile, _ name: String, _ now: Timestamp) -> Bool {
        do throws(ConfigurationFault) {
            let bytes = try file.read()
            let ends = try maker.made(file.place) { () throws(CredentialFault) in
                try CertificateFile.ends(in: bytes)
            }
            findings.append(Self.judge(ends, name, now))
            return findings.last?.level != .wrong
        } catch {
            findings.append(
                .wrong(
                    Self.subject, error.description,
                    do: "put a certificate in PEM there, or take the key away to use the usual one")
            )
            return false
        }
    }

    /// How long before its end a certificate is worth a word.
    static let warningTime = Duration.days(30)

    static func judge(_ ends: [Timestamp], _ name: String, _ now: Timestamp) -> Finding {
        let last = ends.max() ?? now
        let expired = ends.count { $0 <= now }
        let advice = "get the certificate that follows it, and name that file"
        if expired == ends.count {
            return .wrong(subject, "\(name): expired at \(last.text)", do: advice)
        }
        if last - now < warningTime {
            return .note(subject, "\(name): ends at \(last.text)", do: advice)
        }
        if expired > 0 {
            return .note(subject, "\(name): \(expired) of \(ends.count) certificates have expired")
        }
        return .ok(subject, "\(name): good until \(last.text)")
    }
}
