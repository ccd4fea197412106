-- Whose the given tokens are.
-- $1 int4[], $2 text[] (lanes, tokens). One row for each that was submitted.
WITH known AS MATERIALIZED (
    SELECT wanted.lane, wanted.token, token_key.shard, token_key.id
    FROM unnest($1::int4[], $2::text[]) AS wanted (lane, token)
    JOIN renewald.token_key
        ON token_key.lane = wanted.lane AND token_key.digest = sha256(convert_to(wanted.token, 'UTF8'))
)
SELECT known.lane, known.token, known.shard, known.id, purchase.user_id
FROM known
JOIN renewald.purchase ON purchase.shard = known.shard AND purchase.id = known.id
