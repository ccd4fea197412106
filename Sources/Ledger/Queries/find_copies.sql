-- Which of the given purchases are copies, as others may have them too.
-- $1 int2[], $2 int8[] (shard and id of each). One row a copy: shard, id, and whose copy it is.
SELECT form.shard, form.id, claimant.id AS original
FROM unnest($1::int2[], $2::int8[]) AS given (shard, id)
JOIN renewald.purchase AS form ON form.shard = given.shard AND form.id = given.id
-- By the user: there is no index of copies.
JOIN renewald.claimant ON claimant.user_id = form.user_id AND claimant.copy_id = form.id
