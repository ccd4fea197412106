import Foundation

/// The RSA keys that the simulators of one run of the tests share, as they take long to make:
/// `RENEWALD_RSA_KEYS` names the file, and without it each makes its own.
public enum SimulatorKeys {
    /// The arguments for `storesim serve`.
    public static let flags: [String] = {
        guard let file = ProcessInfo.processInfo.environment["RENEWALD_RSA_KEYS"] else { return [] }
        return ["--rsa-keys", file]
    }()
}
