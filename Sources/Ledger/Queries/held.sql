-- Revocations that are held, the oldest first.
-- $1 text and $2 text (store and app; null is all); $3 text (reason; null is all). One row each.
SELECT held.id, held.held_at, held.user_id, held.entitlement, held.reason, held.purchase_id, held.store, held.app
FROM renewald.held
WHERE ($1::text IS NULL OR held.store = $1)
  AND ($2::text IS NULL OR held.app = $2)
  AND ($3::text IS NULL OR held.reason = $3)
ORDER BY held.id
