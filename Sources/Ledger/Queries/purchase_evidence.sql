-- What is kept of the checks of some purchases: the newest so many, oldest first.
-- $1 int8[] (purchases), $2 int4 (most rows). One row a check.
SELECT * FROM (
    SELECT
        kept.at, kept.purchase_id, kept.user_id, kept.kind, kept.heard, kept.rule,
        kept.call_names, kept.call_statuses, kept.call_bytes, kept.call_digests,
        coalesce(kept.call_bodies, '{}') AS call_bodies, kept.sealed_bodies,
        kept.state_before, kept.state, kept.access_before, kept.access, kept.product, kept.order_id, kept.paid_through, kept.expires_at, kept.problem,
        kept.next_check_at
    FROM renewald.evidence AS kept
    WHERE kept.purchase_id = ANY ($1)
    ORDER BY kept.at DESC
    LIMIT $2
) AS newest
ORDER BY newest.at
