-- Keeps what a check that mattered has heard, and what was decided by it. Arrays within are array
-- literals, a call each. No rows.
INSERT INTO renewald.evidence ($columns)
SELECT
    kept.shard, kept.purchase_id, kept.user_id, kept.kind, kept.heard, kept.rule,
    kept.call_names::text[], kept.call_statuses::int4[], kept.call_bytes::int4[],
    kept.call_digests::text[], kept.call_bodies::text[], kept.sealed_bodies, kept.state_before,
    kept.state, kept.access_before, kept.access, kept.product, kept.order_id, kept.original_id,
    kept.period, kept.paid_through, kept.expires_at, kept.problem, kept.next_check_at, kept.record, kept.policy
FROM unnest($rows) AS kept (
    shard int2, purchase_id int8, user_id text, kind text, heard text, rule text, call_names text,
    call_statuses text, call_bytes text, call_digests text, call_bodies text, sealed_bodies bytea,
    state_before text, state text, access_before text, access text, product text, order_id text,
    original_id text, period text, paid_through timestamptz, expires_at timestamptz, problem text,
    next_check_at timestamptz, record bytea, policy int8
)
