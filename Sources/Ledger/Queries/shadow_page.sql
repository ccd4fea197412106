-- The next differences that a run has seen, with what was told of each.
-- $system text; $run int8; $after int8 (id); $limit int4 (rows). One row a difference: when the last event took effect
-- that they may not know of, and the purchases whose end was moved without payment since they were paid last.
WITH note AS MATERIALIZED (
    SELECT
        seen.id, seen.shard, seen.user_id, seen.entitlement, seen.class, seen.first_seen_at, seen.last_seen_at,
        held.purchase_id AS last_held_by, held.product AS last_product
    FROM renewald.shadow_difference AS seen
    LEFT JOIN renewald.entitlement AS held
        ON held.shard = seen.shard AND held.user_id = seen.user_id AND held.entitlement = seen.entitlement
    WHERE seen.system = $system::text AND seen.run = $run::int8 AND seen.id > $after::int8
    ORDER BY seen.id
    LIMIT $limit::int4
)
SELECT
    note.id, note.shard, note.user_id, note.entitlement, note.class, note.first_seen_at, note.last_seen_at,
    note.last_held_by, note.last_product,
    (
        SELECT event.effective_at FROM renewald.event
        WHERE event.shard = note.shard AND event.user_id = note.user_id
            AND CASE note.class
                WHEN 'they_grant' THEN event.kind = 'revoke' AND event.entitlement = note.entitlement
                ELSE event.kind = 'grant' AND event.entitlement = note.entitlement
                    OR event.reason IN (
                        'renewed', 'payment_pending', 'payment_recovered', 'trial_converted')
            END
        ORDER BY event.id DESC LIMIT 1
    ) AS told_at,
    ARRAY(
        SELECT latest.purchase_id FROM (
            SELECT DISTINCT ON (event.purchase_id) event.purchase_id, event.reason, event.detail
            FROM renewald.event
            WHERE event.shard = note.shard AND event.user_id = note.user_id
                AND (event.kind = 'grant' OR event.kind = 'notice' AND event.reason IN (
                    'renewed', 'payment_pending', 'payment_recovered', 'trial_converted'))
            ORDER BY event.purchase_id, event.id DESC
        ) AS latest
        WHERE latest.reason = 'payment_pending' AND latest.detail -> 'false_renewal' = 'true'
    ) AS moved
FROM note
ORDER BY note.id
