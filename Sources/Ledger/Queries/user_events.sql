-- All that was told of one user, oldest first.
-- $1 text (user id). One row an event.
SELECT
    event.id, event.key::text AS key, event.created_at, event.kind, event.reason, event.user_id,
    event.entitlement, event.purchase_id, event.store, event.app, event.environment,
    event.product, event.order_id, event.effective_at, event.expires_at,
    event.detail::text AS detail
FROM renewald.event
WHERE event.user_id = $1
ORDER BY event.id
