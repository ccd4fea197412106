-- Keeps what a check that mattered has heard, and what was decided by it.
-- $1 int2[], $2 int8[], $3 text[] (shards, purchases, users), then a column an array; arrays within are
-- array literals, a call each. No rows.
INSERT INTO renewald.evidence (
    shard, purchase_id, user_id, kind, heard, rule, call_names, call_statuses, call_bytes,
    call_digests, call_bodies, state_before, state, access_before, access, product, order_id,
    original_id, period, paid_through, expires_at, problem, next_check_at)
SELECT
    kept.shard, kept.purchase_id, kept.user_id, kept.kind, kept.heard, kept.rule,
    kept.call_names::text[], kept.call_statuses::int4[], kept.call_bytes::int4[],
    kept.call_digests::text[], kept.call_bodies::text[], kept.state_before, kept.state,
    kept.access_before, kept.access, kept.product, kept.order_id, kept.original_id, kept.period,
    kept.paid_through, kept.expires_at, kept.problem, kept.next_check_at
FROM unnest(
    $1::int2[], $2::int8[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[],
    $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[],
    $15::text[], $16::text[], $17::text[], $18::text[], $19::text[], $20::timestamptz[],
    $21::timestamptz[], $22::text[], $23::timestamptz[]
) AS kept (
    shard, purchase_id, user_id, kind, heard, rule, call_names, call_statuses, call_bytes,
    call_digests, call_bodies, state_before, state, access_before, access, product, order_id,
    original_id, period, paid_through, expires_at, problem, next_check_at)
