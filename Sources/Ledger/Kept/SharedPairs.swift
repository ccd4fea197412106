import Postgres
package import Renewal

/// Two users of whom one has handed in what the other has.
package struct SharedPair: Sendable {
    package let owner: (shard: Int16, userID: UserID)
    package let claimant: (shard: Int16, userID: UserID)
}

extension PostgresLedger {
    /// Who has handed in what another has, with that one. Reads only.
    package func sharedPairs() async throws(LedgerError) -> [SharedPair] {
        try await attempt {
            try await self.reads.query(SQL.sharedCircles()).rows.map { row throws(PostgresError) in
                SharedPair(
                    owner: (try row.int16("owner_shard"), UserID(try row.text("owner"))),
                    claimant: (try row.int16("claimant_shard"), UserID(try row.text("claimant"))))
            }
        }
    }
}
