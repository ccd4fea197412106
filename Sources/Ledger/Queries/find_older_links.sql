-- Whose the given tokens are.
-- $1 int4[], $2 text[] (lanes, tokens). One row for each that was submitted.
SELECT wanted.lane, wanted.token, known.shard, known.id, purchase.user_id
FROM unnest($1::int4[], $2::text[]) AS wanted (lane, token)
JOIN renewald.token_key AS known
    ON known.lane = wanted.lane AND known.digest = sha256(convert_to(wanted.token, 'UTF8'))
JOIN renewald.purchase ON purchase.shard = known.shard AND purchase.id = known.id
