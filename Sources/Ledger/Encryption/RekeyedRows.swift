import Postgres
import Renewal

/// A row of `renewald.credential`, decrypted, and as it is put back.
struct CredentialRow {
    let shard: Int16
    let id: Int64
    /// By which the database knows whether it has changed since.
    let seen: String
    private var token: StoreToken?
    private var askedWith: StoreToken?
    private var sealed: [UInt8]?
    private var sealedAskedWith: [UInt8]?

    struct Failure: Error {
        let id: Int64
        /// The key that lacks, in words; nil for what was altered.
        var lack: String?
    }

    init(_ row: PostgresRow, _ seals: Seals) throws(Failure) {
        let id = (try? row.int64("id")) ?? 0
        self.id = id
        do {
            shard = try row.int16("shard")
            seen = try row.text("seen")
            token = try row.optionalText("token")
            askedWith = try row.optionalText("asked_with")
            let place = try row.int64("sealed_for")
            if let bytes = try row.optionalBytes("sealed") {
                token = try seals.token(bytes, .token(purchase: place), id)
            }
            if let bytes = try row.optionalBytes("sealed_asked_with") {
                askedWith = try seals.token(bytes, .name(purchase: place), id)
            }
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure(id: id)
        }
    }

    /// As it is to be: in clear without a sealer.
    func rewritten(by sealer: Sealer?) throws(Failure) -> CredentialRow {
        guard let sealer else { return self }
        var row = self
        do throws(LedgerError) {
            row.sealed = try token.map { token throws(LedgerError) in
                try sealer.token(token, .token(purchase: id))
            }
            row.sealedAskedWith = try askedWith.map { token throws(LedgerError) in
                try sealer.token(token, .name(purchase: id))
            }
        } catch {
            throw Failure(id: id)
        }
        (row.token, row.askedWith) = (nil, nil)
        return row
    }

    fileprivate static func statement(of rows: [CredentialRow]) -> PostgresStatement? {
        guard !rows.isEmpty else { return nil }
        return SQL.rekeyCredentials([
            "shard": .int16s(rows.map(\.shard)), "id": .int64s(rows.map(\.id)),
            "seen": .texts(rows.map(\.seen)), "token": .optionalTexts(rows.map(\.token)),
            "asked_with": .optionalTexts(rows.map(\.askedWith)),
            "sealed": .optionalBytes(rows.map(\.sealed)),
            "sealed_asked_with": .optionalBytes(rows.map(\.sealedAskedWith)),
        ])
    }
}

extension [CredentialRow] {
    var statement: PostgresStatement? { CredentialRow.statement(of: self) }
}

/// The kept answers of a row of `renewald.evidence`, decrypted, and as they are put back.
struct AnswersRow {
    private let id: Int64
    private let at: Timestamp
    private let part: Int64
    private let place: String
    private let digests: [String]
    private var bodies: [String]?
    private var sealed: [UInt8]?

    init(_ row: PostgresRow, _ seals: Seals) throws(CredentialRow.Failure) {
        let id = (try? row.int64("purchase_id")) ?? 0
        self.id = id
        do {
            at = try row.instant("at")
            part = try row.int64("part")
            place = try row.text("place")
            digests = try row.texts("call_digests")
            guard let bytes = try row.optionalBytes("sealed_bodies") else {
                bodies = try row.texts("call_bodies")
                return
            }
            bodies = seals.answers(bytes, ofPurchase: id, digests: digests)
            if bodies == nil {
                throw CredentialRow.Failure(id: id, lack: seals.lack(for: bytes))
            }
        } catch let failure as CredentialRow.Failure {
            throw failure
        } catch {
            throw CredentialRow.Failure(id: id)
        }
    }

    /// As they are to be: in clear without a sealer.
    func rewritten(by sealer: Sealer?) throws(CredentialRow.Failure) -> AnswersRow {
        guard let sealer, let bodies else { return self }
        var row = self
        do throws(LedgerError) {
            row.sealed = try sealer.answers(bodies, ofPurchase: id, digests: digests)
        } catch {
            throw CredentialRow.Failure(id: id)
        }
        row.bodies = nil
        return row
    }

    fileprivate static func statement(of rows: [AnswersRow]) -> PostgresStatement? {
        guard !rows.isEmpty else { return nil }
        return SQL.rekeyEvidence([
            "purchase_id": .int64s(rows.map(\.id)), "at": .instants(rows.map(\.at)),
            "part": .int64s(rows.map(\.part)), "place": .texts(rows.map(\.place)),
            "call_bodies": .optionalTexts(rows.map { $0.bodies.map(arrayLiteral) }),
            "sealed_bodies": .optionalBytes(rows.map(\.sealed)),
        ])
    }
}

extension [AnswersRow] {
    var statement: PostgresStatement? { AnswersRow.statement(of: self) }
}

extension Seals {
    fileprivate func token(
        _ sealed: [UInt8], _ place: SealedPlace, _ id: Int64
    ) throws(CredentialRow.Failure) -> StoreToken {
        guard let text = text(sealed, place) else {
            throw CredentialRow.Failure(id: id, lack: lack(for: sealed))
        }
        return StoreToken(text)
    }
}
