-- Whose the purchase with an original id is.
-- $1 int4, $2 text (lane, original id). One row where somebody has handed it in: user_id.
WITH known AS MATERIALIZED (
    SELECT original_key.shard, original_key.id
    FROM renewald.original_key
    WHERE original_key.lane = $1 AND original_key.original_id = $2
)
SELECT purchase.user_id
FROM known
JOIN renewald.purchase ON purchase.shard = known.shard AND purchase.id = known.id
