import Configuration
import Ledger
import Renewal

/// Looks whether what is encrypted can be read, and whether all is that should be.
struct EncryptionCheck {
    private let cipher: Cipher?
    private let ledger: PostgresLedger

    static let subject = "encryption"

    /// - Parameters:
    ///   - cipher: the keys of the configuration.
    ///   - ledger: whose keys they are.
    init(_ cipher: Cipher?, _ ledger: PostgresLedger) {
        self.cipher = cipher
        self.ledger = ledger
    }

    /// - Returns: nothing where no key is configured and none was.
    func run() async -> [Finding] {
        do throws(LedgerError) {
            let inUse = try await ledger.keysInUse()
            guard cipher != nil || !inUse.isEmpty else { return [] }
            let missing = inUse.filter { cipher?.keys.map(\.id).contains($0) != true }
            guard missing.isEmpty else {
                return missing.map { id in
                    .wrong(
                        Self.subject, "tokens are encrypted with key \(id), which is not here",
                        do: "name it in [encryption] keys, or bring its file back")
                }
            }
            return [finding(try await ledger.countLeft())]
        } catch {
            return [DatabaseFindings.failed(Self.subject, error)]
        }
    }

    private func finding(_ left: Int64) -> Finding {
        let newest = cipher?.newest
        let count = left < RekeyReport.countLimit ? "\(left)" : "\(left) or more"
        let state =
            newest.map { "key \($0.id) encrypts what is written" }
            ?? "what is written is in clear"
        guard left > 0 else { return .ok(Self.subject, "\(state), and so is all that is there") }
        return .note(
            Self.subject,
            newest == nil
                ? "\(state); \(count) tokens and answers are encrypted"
                : "\(state); \(count) tokens and answers are in clear or under an older key",
            do: "run `renewald rekey`; what was just submitted is encrypted by its first check; "
                + "what cannot be decrypted \(Undecipherable.remedy)")
    }
}
