-- All purchases of one user as claims, due or not, oldest first.
-- $1 text (user id), $2 bool (those of others as well that the user has handed in). One row a purchase.
SELECT
    app.store, app.app, renewald.problem_of(app.configured, due.problem) AS problem,
    {claim_columns}
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
