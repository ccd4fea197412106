-- Users whose purchases may go from one to another, as one has handed in what the other has.
-- No parameters. One row a purchase and a user who has claimed it.
SELECT
    purchase.shard AS owner_shard, purchase.user_id AS owner,
    renewald.shard_of(claimant.user_id) AS claimant_shard, claimant.user_id AS claimant
FROM renewald.claimant
JOIN renewald.purchase ON purchase.shard = claimant.shard AND purchase.id = claimant.id
WHERE claimant.copy_id IS NULL
ORDER BY purchase.shard, purchase.id, claimant.user_id
