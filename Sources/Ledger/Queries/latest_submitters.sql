-- Who has handed in each of the given purchases last, and since when that is known: who had it before is kept with the
-- time at which its owner has claimed it.
-- $1 int2[], $2 int8[] (shard and id of each). One row each: shard, id, user_id, is_owner, handed_in_at.
WITH given AS MATERIALIZED (
    SELECT * FROM unnest($1::int2[], $2::int8[]) AS given (shard, id)
), claimed AS MATERIALIZED (
    SELECT given.shard, given.id, max(claimant.claimed_at) AS at
    FROM given
    JOIN renewald.claimant ON claimant.shard = given.shard AND claimant.id = given.id
    GROUP BY given.shard, given.id
)
SELECT
    purchase.shard, purchase.id, coalesce(purchase.claimed_by, purchase.user_id) AS user_id,
    purchase.claimed_by IS NULL AS is_owner,
    greatest(purchase.created_at, credential.submitted_at, claimed.at) AS handed_in_at
FROM given
JOIN renewald.purchase ON purchase.shard = given.shard AND purchase.id = given.id
JOIN renewald.credential ON credential.shard = given.shard AND credential.id = given.id
LEFT JOIN claimed ON claimed.shard = given.shard AND claimed.id = given.id
