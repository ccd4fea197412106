-- What renewald.has asks, for its plan alone. $1 text (user id); $2 text (entitlement). One row.
SELECT held.active
FROM renewald.entitlement AS held
WHERE held.shard = renewald.shard_of($1) AND held.user_id = $1 AND held.entitlement = $2
