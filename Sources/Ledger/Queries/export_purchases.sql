-- What was submitted, in the order in which it was: for each purchase its own user, then who else has claimed it and
-- has no purchase of their own, while a claim is open; who has claimed it last comes last. Once it was handed over, who
-- had it has no claim: written behind its owner, they would get it back where it is read in. So would whoever has handed
-- in another form of it: the claim that came of that stands with the first form. As much as fits, and one at least.
-- $1 int8 (the id that they come after); $2 int4 (most purchases); $3 int8 (most bytes of tokens). One row a line;
-- is_left_out where a purchase has none.
WITH next AS MATERIALIZED (
    SELECT
        purchase.shard, purchase.id, purchase.lane, purchase.user_id, purchase.claimed_by,
        CASE WHEN purchase.state = 'superseded' THEN purchase.original_id END AS form_of,
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
), first AS MATERIALIZED (
    SELECT next.id AS form_id, next.user_id, known.shard, known.id
    FROM next
    JOIN renewald.original_key AS known
        ON known.lane = next.lane AND known.original_id = next.form_of AND known.id <> next.id
), form AS MATERIALIZED (
    -- Read in, that of its owner would take the claims of others back.
    SELECT first.form_id AS id,
        purchase.user_id <> first.user_id OR purchase.claimed_by IS NOT NULL AS is_left_out
    FROM first
    JOIN renewald.purchase ON purchase.shard = first.shard AND purchase.id = first.id
), line AS (
    SELECT next.id, next.user_id, false AS is_latest, NULL::timestamptz AS claimed_at, next.lane, next.product,
        next.token, next.sealed_token, next.sealed_for, next.store_user_id,
        coalesce(form.is_left_out, false) AS is_left_out
    FROM next
    LEFT JOIN form ON form.id = next.id
    WHERE next.before <= $3
    UNION ALL
    SELECT next.id, claimant.user_id, claimant.user_id = next.claimed_by, claimant.claimed_at, next.lane,
        coalesce(claimant.product, next.product), next.token, next.sealed_token, next.sealed_for,
        coalesce(nullif(claimant.store_user_id, ''), next.store_user_id), false
    FROM next
    LEFT JOIN form ON form.id = next.id
    JOIN renewald.claimant ON claimant.shard = next.shard AND claimant.id = next.id
    WHERE next.before <= $3 AND claimant.copy_id IS NULL AND next.claimed_by IS NOT NULL AND form.id IS NULL
)
SELECT line.id, line.user_id, app.store, app.app, line.product, line.token,
    line.sealed_token, line.sealed_for, false AS is_named, line.store_user_id, line.is_left_out
FROM line
JOIN renewald.app USING (lane)
ORDER BY line.id, line.is_latest, line.claimed_at NULLS FIRST, line.user_id
