-- A purchase was found to be another one in another form: for each user who has handed it in, the first is claimed, or
-- woken, as by its own token. A row a user, in the order in which they have handed it in: lane, shard and id of the
-- first, and the user. Fails when the first has just been moved. One row.
SELECT renewald.require(count(*) = cardinality($lane), 'the first form of a purchase')
FROM unnest($rows) AS first (lane int4, shard int2, id int8, user_id text)
WHERE renewald.submit_again(first.lane, first.shard, first.id, first.user_id)
