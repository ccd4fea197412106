-- All purchases of one user as claims, due or not, oldest first.
-- $1 text (user id). One row a purchase.
SELECT
    due.shard, due.lane, due.due_at, due.id, due.attempts, due.crashes, due.checked_at, due.problem,
    now() AS claimed_at, purchase.user_id, purchase.product, purchase.created_at,
    purchase.claimed_by_others, purchase.claimed_by, purchase.version, purchase.environment,
    purchase.kind, purchase.state, purchase.access, purchase.paid_through, purchase.expires_at,
    purchase.auto_renew, purchase.order_id, purchase.original_id, purchase.period,
    purchase.phase, purchase.subscription_group, purchase.used_introductory,
    purchase.stated_at, purchase.lapse, purchase.signals, purchase.doubt,
    purchase.doubt_since, purchase.holding_entitlements, purchase.holding_products,
    purchase.holding_ends, coalesce(credential.asked_with, credential.token) AS token,
    credential.store_user_id,
    ARRAY(
        SELECT clue.clue FROM renewald.clue
        WHERE clue.shard = due.shard AND clue.id = due.id AND clue.settled_at IS NULL
        ORDER BY clue.clue LIMIT 50) AS clues,
    ARRAY(
        SELECT (extract(epoch FROM clue.heard_at) * 1000000)::int8 FROM renewald.clue
        WHERE clue.shard = due.shard AND clue.id = due.id AND clue.settled_at IS NULL
        ORDER BY clue.clue LIMIT 50) AS clue_times
FROM renewald.purchase
JOIN renewald.schedule AS due
    ON due.shard = purchase.shard AND due.lane = purchase.lane AND due.id = purchase.id
JOIN renewald.credential ON credential.shard = purchase.shard AND credential.id = purchase.id
WHERE purchase.user_id = $1
  AND purchase.shard = renewald.shard_of($1)
ORDER BY purchase.id
