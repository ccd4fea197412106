-- A purchase was found to be another one in another form: the first is claimed, or woken, as by its own
-- token. Fails (division by zero) when the first has just been moved.
-- $1 int4[], $2 int2[], $3 int8[], $4 text[] (lanes, shards and ids of the first, users). One row.
SELECT count(*) / (count(*) = cardinality($1))::int AS checked
FROM unnest($1::int4[], $2::int2[], $3::int8[], $4::text[]) AS first (lane, shard, id, user_id)
WHERE renewald.submit_again(first.lane, first.shard, first.id, first.user_id)
