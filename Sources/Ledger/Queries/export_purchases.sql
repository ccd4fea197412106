-- What was submitted, in the order in which it was: for each purchase its own user, then who else has claimed it and
-- has no purchase of their own, while a claim is open. Once it was handed over, who had it has no claim: written behind
-- its owner, they would get it back where it is read in. As much as fits, and one at least.
-- $1 int8 (the id that they come after); $2 int4 (most purchases); $3 int8 (most bytes of tokens). One row a line.
WITH next AS MATERIALIZED (
    SELECT
        purchase.shard, purchase.id, purchase.lane, purchase.user_id, purchase.claimed_by,
        coalesce(credential.product, purchase.product) AS product, credential.token,
        CASE WHEN credential.token IS NULL THEN credential.sealed END AS sealed_token,
        coalesce(credential.sealed_as, credential.id) AS sealed_for, credential.store_user_id,
        sum(coalesce(octet_length(credential.token), octet_length(credential.sealed)))
            OVER (ORDER BY purchase.id)
            - coalesce(octet_length(credential.token), octet_length(credential.sealed)) AS before
    FROM (
        SELECT * FROM renewald.purchase WHERE purchase.id > $1 ORDER BY purchase.id LIMIT $2
    ) AS purchase
    JOIN renewald.credential ON credential.shard = purchase.shard AND credential.id = purchase.id
), line AS (
    SELECT next.id, next.user_id, NULL::timestamptz AS claimed_at, next.lane, next.product, next.token,
        next.sealed_token, next.sealed_for, next.store_user_id
    FROM next WHERE next.before <= $3
    UNION ALL
    SELECT next.id, claimant.user_id, claimant.claimed_at, next.lane,
        coalesce(claimant.product, next.product), next.token, next.sealed_token, next.sealed_for,
        coalesce(nullif(claimant.store_user_id, ''), next.store_user_id)
    FROM next
    JOIN renewald.claimant ON claimant.shard = next.shard AND claimant.id = next.id
    WHERE next.before <= $3 AND claimant.copy_id IS NULL AND next.claimed_by IS NOT NULL
)
SELECT line.id, line.user_id, app.store, app.app, line.product, line.token,
    line.sealed_token, line.sealed_for, false AS is_named, line.store_user_id
FROM line
JOIN renewald.app USING (lane)
ORDER BY line.id, line.claimed_at NULLS FIRST, line.user_id
