/// Whether the log names users or gives pseudonyms, which stay the same for the same user.
package enum UserNames: String, Hashable, Sendable, CaseIterable {
    case plain, hashed
}
