import Postgres
import Renewal

/// The statements of a commit that may write something encrypted.
extension CommitBatch {
    /// Before all of them: the data key is in use until the commit.
    var dataKeyStatement: PostgresStatement? {
        sealer.map { SQL.commitDataKey(.int32($0.number)) }
    }

    /// Whether a whole answer of a store is kept.
    var keepsAnswers: Bool {
        (outcomes.compactMap(\.evidence) + takeovers.map(\.evidence)).contains { evidence in
            evidence.calls.contains { $0.raw != nil }
        }
    }

    /// What was submitted in clear is encrypted by the first commit of its purchase.
    var sealStatement: PostgresStatement? {
        get throws(LedgerError) {
            let bare = outcomes.map(\.claim).filter(\.lacksSeal)
            guard let sealer, !bare.isEmpty else { return nil }
            var sealed: [[UInt8]?] = []
            for purchase in bare.map(\.purchase) {
                sealed.append(try sealer.token(purchase.token, .token(purchase: purchase.id)))
            }
            return SQL.commitSeals([
                "shard": .int16s(bare.map(\.shard)), "id": .int64s(bare.map(\.purchase.id)),
                "sealed": .optionalBytes(sealed),
            ])
        }
    }

    /// What stores are to be asked with from now on.
    var tokenStatement: PostgresStatement? {
        get throws(LedgerError) {
            let named = outcomes.filter { $0.change?.nextToken != nil && !isOther($0) }
            guard !named.isEmpty else { return nil }
            let tokens = named.map { $0.change?.nextToken }
            var sealed: [[UInt8]?] = named.map { _ in nil }
            if let sealer {
                for (index, token) in tokens.enumerated() {
                    guard let token else { continue }
                    sealed[index] = try sealer.token(
                        token, .name(purchase: named[index].claim.purchaseID))
                }
            }
            return SQL.commitTokens([
                "shard": .int16s(named.map(\.claim.shard)),
                "id": .int64s(named.map(\.claim.purchaseID)),
                "token": .optionalTexts(sealer == nil ? tokens : tokens.map { _ in nil }),
                "sealed": .optionalBytes(sealed),
            ])
        }
    }
}

extension Sealer {
    /// What the database says of a data key that was retired meanwhile begins with this.
    static let lost = "the data key of the encryption"

    func token(_ token: StoreToken, _ place: SealedPlace) throws(LedgerError) -> [UInt8] {
        try seal(Array(token.text.utf8), place)
    }

    /// Whole answers, a call each.
    func answers(
        _ bodies: [String], ofPurchase id: Int64, digests: [String]
    ) throws(LedgerError) -> [UInt8] {
        var bytes: [UInt8] = []
        for body in bodies {
            let size = UInt32(body.utf8.count)
            bytes += stride(from: 24, through: 0, by: -8).map { shift in
                UInt8(truncatingIfNeeded: size >> UInt32(shift))
            }
            bytes += body.utf8
        }
        return try seal(bytes, .answers(purchase: id, digests: digests))
    }
}

extension Seals {
    /// - Returns: nil for what was altered, or belongs to another check.
    func answers(
        _ sealed: [UInt8], ofPurchase id: Int64, digests: [String]
    ) -> [String]? {
        guard let bytes = open(sealed, .answers(purchase: id, digests: digests)) else { return nil }
        var bodies: [String] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            guard rest.count >= 4 else { return nil }
            let size = Int(rest.prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
            rest = rest.dropFirst(4)
            guard rest.count >= size,
                let body = String(validating: rest.prefix(size), as: UTF8.self)
            else { return nil }
            bodies.append(body)
            rest = rest.dropFirst(size)
        }
        return bodies
    }
}
