-- A purchase was found to be another one in another form: the first is claimed, or woken, as by its own
-- token. Fails when the first has just been moved.
-- $1 int4[], $2 int2[], $3 int8[], $4 text[] (lanes, shards and ids of the first, users). One row.
SELECT renewald.require(count(*) = cardinality($1), 'the first form of a purchase')
FROM unnest($1::int4[], $2::int2[], $3::int8[], $4::text[]) AS first (lane, shard, id, user_id)
WHERE renewald.submit_again(first.lane, first.shard, first.id, first.user_id)
