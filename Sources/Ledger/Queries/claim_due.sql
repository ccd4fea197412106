-- The due purchases of one lane in the given shards, oldest first in each shard. A plain read.
-- $1 int2[], $2 timestamptz[], $3 int8[] (shards, and for each the place after which to go on); $4 int4
-- (lane); $5 int4 (most of one shard); $6 int4 (most in all); $7 bool (the suspects of a crash, which are
-- never part of the crowd, or all others). One row a purchase, also where parts of it are missing: it cannot be
-- read, and is set aside.
SELECT
    due.shard, due.lane, due.due_at, due.id, due.attempts, due.crashes, due.checked_at, due.problem,
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
FROM unnest($1::int2[], $2::timestamptz[], $3::int8[]) AS place (shard, due_at, id)
CROSS JOIN LATERAL (
    SELECT schedule.*
    FROM renewald.schedule
    WHERE schedule.shard = place.shard
      AND schedule.lane = $4
      AND schedule.due_at <= now()
      AND (schedule.crashes > 0) = $7
      AND (schedule.due_at, schedule.id) > (place.due_at, place.id)
    ORDER BY schedule.due_at, schedule.id
    LIMIT $5
) AS due
LEFT JOIN renewald.purchase ON purchase.shard = due.shard AND purchase.id = due.id
LEFT JOIN renewald.credential ON credential.shard = due.shard AND credential.id = due.id
LIMIT $6
