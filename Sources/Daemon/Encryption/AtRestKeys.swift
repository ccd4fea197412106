import Configuration
import Crypto
import FoundationEssentials
import Ledger

/// The keys of `[encryption]`: AES-256 in Galois/Counter Mode, as swift-crypto has it.
enum AtRestKeys {
    /// Bytes of a key.
    static let keyBytes = 32

    /// Reads the keys.
    ///
    /// - Returns: nil where none is configured.
    /// - Throws: every fault together; none of them holds a key.
    static func cipher(
        _ settings: TableValues<EncryptionKeys>, environment: [String: String]
    ) throws(ConfigurationFaults) -> Cipher? {
        guard let sources = settings.keys else { return nil }
        var keys: [SealingKey] = []
        var faults: [ConfigurationFault] = []
        for source in sources {
            do throws(ConfigurationFault) {
                let bytes = try key(source, environment)
                let key = sealingKey(bytes)
                if keys.contains(where: { $0.id == key.id }) {
                    throw source.place.fault("two of the keys are the same")
                }
                keys.append(key)
            } catch {
                faults.append(error)
            }
        }
        guard faults.isEmpty else { throw ConfigurationFaults(faults) }
        return Cipher(
            keys: keys, encrypts: settings.mode == .encrypt,
            // The generator of the operating system.
            random: { (0..<keyBytes).map { _ in .random(in: .min ... .max) } },
            dataKey: sealingKey)
    }

    private static func key(
        _ source: SecretSource, _ environment: [String: String]
    ) throws(ConfigurationFault) -> [UInt8] {
        guard let text = try source.read(environment: environment).text,
            let data = Data(base64Encoded: text)
        else { throw source.place.fault("the key is not base64: \(advice)") }
        guard data.count == keyBytes else {
            throw source.place.fault(
                "the key has \(data.count) bytes, and needs \(keyBytes): \(advice)")
        }
        return Array(data)
    }

    private static let advice = "make one with `openssl rand -base64 32`"

    /// What encrypts with these 32 bytes. Its id is the beginning of their SHA-256 under a label of
    /// its own: whoever knows it knows nothing of the key.
    static func sealingKey(_ bytes: [UInt8]) -> SealingKey {
        let key = SymmetricKey(data: bytes)
        var hash = SHA256()
        hash.update(data: Array("renewald key id 1".utf8))
        hash.update(data: bytes)
        return SealingKey(
            id: KeyID(bytes: Array(hash.finalize().prefix(8))),
            seal: { clear, place in
                let box = try AES.GCM.seal(clear, using: key, authenticating: place)
                return Array(box.nonce) + Array(box.ciphertext) + Array(box.tag)
            },
            open: { sealed, place in
                Array(
                    try AES.GCM.open(
                        try AES.GCM.SealedBox(combined: sealed), using: key, authenticating: place))
            })
    }
}
