-- The users of the purchases that an order, transaction, receipt or subscription id names, from indexes
-- alone: as the token that was submitted, as an original id, or as an order of a check that was kept.
-- $1 text (the id), $2 text (Google's base id of it, or the same). One row a user.
WITH named (shard, id) AS MATERIALIZED (
    SELECT known.shard, known.id FROM renewald.token_key AS known
    WHERE known.digest = sha256(convert_to($1, 'UTF8'))
        AND known.lane IN (SELECT app.lane FROM renewald.app)
    UNION
    SELECT known.shard, known.id FROM renewald.original_key AS known
    WHERE known.original_id = $1
        AND known.lane IN (SELECT app.lane FROM renewald.app)
), kept (purchase_id) AS (
    SELECT seen.purchase_id FROM renewald.evidence AS seen WHERE seen.order_id = $1
    UNION
    SELECT seen.purchase_id FROM renewald.evidence AS seen WHERE seen.period = $1
    UNION
    SELECT seen.purchase_id FROM renewald.evidence AS seen WHERE seen.original_id = $2
)
SELECT purchase.user_id
FROM named JOIN renewald.purchase ON purchase.shard = named.shard AND purchase.id = named.id
UNION
-- The last who had it.
SELECT latest.user_id
FROM (
    SELECT DISTINCT ON (seen.purchase_id) seen.user_id
    -- As an array: a plan that thinks them many would read all evidence.
    FROM unnest(ARRAY(SELECT kept.purchase_id FROM kept)) AS bought (id)
    JOIN renewald.evidence AS seen ON seen.purchase_id = bought.id
    ORDER BY seen.purchase_id, seen.at DESC
) AS latest
ORDER BY user_id
