package import Renewal

/// How far a schema has come, and whom it still works with.
///
/// A worker runs on the schemas from `Migrator.oldest` on, and on a newer one that says that it
/// serves programs of this age: so workers that share a database can be upgraded one by one.
package struct SchemaVersion: Hashable, Sendable {
    /// The newest migration that has been applied; 0 for none.
    package let number: Int
    /// Programs that were written for this version or a later one work with it.
    package let serves: Int

    package init(_ number: Int, serves: Int) {
        self.number = number
        self.serves = serves
    }

    /// Whether a program works with it.
    ///
    /// - Parameters:
    ///   - own: the schema that the program was written for.
    ///   - oldest: the oldest that it works with.
    /// - Returns: why it does not; nil where it does.
    package func refusal(
        ofProgramFor own: Int = Migrator.version, oldest: Int = Migrator.oldest
    ) -> LedgerError? {
        if number < oldest { return .schemaVersion(found: number, needed: oldest) }
        if number > own, serves > own { return .schemaVersion(found: number, needed: own) }
        return nil
    }
}
