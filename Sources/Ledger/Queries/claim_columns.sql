-- Part of statements: a purchase as a claim, due being its row of the schedule. The problem is left to each.
due.shard, due.lane, due.due_at, due.id, due.attempts, due.crashes, due.checked_at,
    due.stated_at AS newest_stated_at, due.heard_mark, due.in_vain_since, due.in_vain_at, now() AS claimed_at,
    {purchase_columns},
    CASE WHEN purchase.claimed_by IS NOT NULL THEN (
        SELECT claimant.claimed_at FROM renewald.claimant
        WHERE claimant.shard = due.shard AND claimant.id = due.id
          AND claimant.user_id = purchase.claimed_by)
    END AS handed_in_at,
    CASE WHEN purchase.claimed_by_others THEN ARRAY(
        SELECT claimant.user_id FROM renewald.claimant
        WHERE claimant.shard = due.shard AND claimant.id = due.id AND claimant.copy_id IS NULL
          -- A receipt of Amazon's belongs to one Amazon user: who names another one claims nothing of it.
          AND coalesce(claimant.store_user_id = credential.store_user_id, true)
        ORDER BY claimant.claimed_at DESC, claimant.user_id
        LIMIT 200)
    ELSE '{}' END AS claimants,
    -- Whether it is settled, when it was heard of and what: those that are not come first.
    ARRAY(
        SELECT concat_ws(' ', clue.settled_at IS NOT NULL, (extract(epoch FROM clue.heard_at) * 1000000)::int8, clue.clue)
        FROM renewald.clue
        WHERE clue.shard = due.shard AND clue.id = due.id
        ORDER BY clue.settled_at DESC NULLS FIRST, clue.clue LIMIT 50) AS clues
