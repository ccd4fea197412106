-- Part of statements: of the purchases of a part before it, the apps and the tokens of what they replace.
named AS MATERIALIZED (
    SELECT token_key.*
    FROM purchase
    JOIN renewald.token_key
        ON token_key.lane = purchase.lane AND token_key.digest = purchase.predecessor
), older AS MATERIALIZED (
    SELECT DISTINCT ON (named.lane, named.digest)
        named.lane, named.digest, credential.token AS predecessor_token,
        credential.sealed AS predecessor_sealed,
        coalesce(credential.sealed_as, credential.id) AS predecessor_sealed_for
    FROM named
    JOIN renewald.credential ON credential.shard = named.shard AND credential.id = named.id
    ORDER BY named.lane, named.digest, named.product
), known AS MATERIALIZED (
    SELECT
        app.store, app.app, purchase.*, older.predecessor_token, older.predecessor_sealed,
        older.predecessor_sealed_for
    FROM purchase
    JOIN renewald.app ON app.lane = purchase.lane
    -- None of these is without a purchase: FULL, so that no plan looks at all of them for each.
    FULL JOIN older ON older.lane = purchase.lane AND older.digest = purchase.predecessor
)
