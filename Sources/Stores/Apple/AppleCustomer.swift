import Renewal

/// Who has the purchase that is asked about. An Apple ID may have bought for several users of an
/// app, and all of that is in one answer.
struct AppleCustomer: Sendable {
    let userID: UserID
    let session: CallSession?

    /// Whether something else of the answer is another user's of the app, so that nothing of it is
    /// given to this one: by the name that the app has given to Apple at the purchase, else as it
    /// was handed in.
    ///
    /// - Parameters:
    ///   - id: its original id.
    ///   - token: its account token; a family's copy has none.
    ///   - own: the account token of the purchase asked about.
    /// - Returns: false also where nobody can tell.
    /// - Throws: where the database does not tell who has handed it in.
    func isAnothers(
        _ id: OrderID?, named token: String?, beside own: String?
    ) async throws(StoreFailure) -> Bool {
        if let token {
            let name = UserID(token)
            if namesUser(name, userID) { return false }
            if let own { return own.lowercased() != token.lowercased() }
            guard mayNameUser(name, userID) else { return true }
        }
        guard let id, let owner = try await session?.known.owner(id) else { return false }
        return owner != userID
    }
}
