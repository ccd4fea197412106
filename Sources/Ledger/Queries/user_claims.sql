-- All purchases of one user as claims, due or not, oldest first.
-- $1 text (user id), $2 bool (those of others as well that the user has handed in). One row a purchase.
SELECT
    app.store, app.app, due.shard, due.lane, due.due_at, due.id, due.attempts, due.crashes, due.checked_at,
    renewald.problem_of(app.configured, due.problem) AS problem,
    due.stated_at AS newest_stated_at, due.in_vain_since, due.in_vain_at,
    now() AS claimed_at, purchase.user_id, purchase.product, purchase.created_at,
    purchase.claimed_by_others, purchase.claimed_by, purchase.version, purchase.environment,
    purchase.kind, purchase.state, purchase.access, purchase.paid_through, purchase.expires_at,
    purchase.auto_renew, purchase.order_id, purchase.original_id, purchase.period,
    purchase.phase, purchase.subscription_group, purchase.used_introductory,
    purchase.stated_at, purchase.lapse, purchase.signals, purchase.doubt,
    purchase.doubt_since, purchase.holding_entitlements, purchase.holding_products,
    purchase.holding_ends, coalesce(credential.asked_with, credential.token) AS token,
    credential.store_user_id, purchase.account_token, purchase.ownership,
    CASE WHEN purchase.claimed_by IS NOT NULL THEN (
        SELECT claimant.claimed_at FROM renewald.claimant
        WHERE claimant.shard = due.shard AND claimant.id = due.id
          AND claimant.user_id = purchase.claimed_by)
    END AS handed_in_at,
    CASE WHEN purchase.claimed_by_others THEN ARRAY(
        SELECT claimant.user_id FROM renewald.claimant
        WHERE claimant.shard = due.shard AND claimant.id = due.id AND claimant.copy_id IS NULL
        ORDER BY claimant.claimed_at DESC, claimant.user_id
        LIMIT 200)
    ELSE '{}' END AS claimants,
    ARRAY(
        SELECT clue.clue FROM renewald.clue
        WHERE clue.shard = due.shard AND clue.id = due.id AND clue.settled_at IS NULL
        ORDER BY clue.clue LIMIT 50) AS clues,
    ARRAY(
        SELECT (extract(epoch FROM clue.heard_at) * 1000000)::int8 FROM renewald.clue
        WHERE clue.shard = due.shard AND clue.id = due.id AND clue.settled_at IS NULL
        ORDER BY clue.clue LIMIT 50) AS clue_times
FROM (
    SELECT own.shard, own.id FROM renewald.purchase AS own
    WHERE own.user_id = $1 AND own.shard = renewald.shard_of($1)
    UNION ALL
    SELECT claimant.shard, claimant.id FROM renewald.claimant
    WHERE claimant.user_id = $1 AND claimant.copy_id IS NULL AND $2
) AS meant
JOIN renewald.purchase ON purchase.shard = meant.shard AND purchase.id = meant.id
JOIN renewald.app ON app.lane = purchase.lane
JOIN renewald.schedule AS due
    ON due.shard = purchase.shard AND due.lane = purchase.lane AND due.id = purchase.id
JOIN renewald.credential ON credential.shard = purchase.shard AND credential.id = purchase.id
ORDER BY purchase.id
