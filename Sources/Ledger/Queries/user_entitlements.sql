-- What one user holds or held. $1 text (user id). One row an entitlement.
SELECT
    held.entitlement, held.active, held.expires_at, held.will_renew, held.in_grace, held.reason,
    held.store, held.product, held.purchase_id, held.environment
FROM renewald.entitlement AS held
WHERE held.shard = renewald.shard_of($1) AND held.user_id = $1
ORDER BY held.entitlement
