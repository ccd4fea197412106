-- Part of statements: what was heard of a purchase last, and for which version of it that counts.
kept.heard, kept.version AS heard_version,
    CASE WHEN kept.predecessor IS NOT NULL THEN (
        SELECT older.token FROM renewald.token_key
        JOIN renewald.credential AS older ON older.shard = token_key.shard AND older.id = token_key.id
        WHERE token_key.lane = purchase.lane AND token_key.digest = kept.predecessor
        ORDER BY token_key.product
        LIMIT 1)
    END AS predecessor_token,
    CASE WHEN kept.predecessor IS NOT NULL THEN (
        SELECT older.sealed FROM renewald.token_key
        JOIN renewald.credential AS older ON older.shard = token_key.shard AND older.id = token_key.id
        WHERE token_key.lane = purchase.lane AND token_key.digest = kept.predecessor
        ORDER BY token_key.product
        LIMIT 1)
    END AS predecessor_sealed,
    CASE WHEN kept.predecessor IS NOT NULL THEN (
        SELECT coalesce(older.sealed_as, older.id) FROM renewald.token_key
        JOIN renewald.credential AS older ON older.shard = token_key.shard AND older.id = token_key.id
        WHERE token_key.lane = purchase.lane AND token_key.digest = kept.predecessor
        ORDER BY token_key.product
        LIMIT 1)
    END AS predecessor_sealed_for
