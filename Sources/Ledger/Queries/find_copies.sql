-- Which of the given purchases are copies, as others may have them too.
-- $1 int2[], $2 int8[] (shard and id of each). One row a copy: shard, id, and whose copy it is.
WITH given AS MATERIALIZED (
    SELECT * FROM unnest($1::int2[], $2::int8[]) AS given (shard, id)
), form AS MATERIALIZED (
    SELECT purchase.shard, purchase.id, purchase.user_id
    FROM given JOIN renewald.purchase ON purchase.shard = given.shard AND purchase.id = given.id
)
SELECT form.shard, form.id, claimant.id AS original
FROM form
-- By the user: there is no index of copies.
JOIN renewald.claimant ON claimant.user_id = form.user_id AND claimant.copy_id = form.id
