-- Takes original ids for purchases; fails when another was faster.
-- $1 int4[], $2 text[], $3 int2[], $4 int8[] (lanes, original ids, shards, ids). One row.
WITH taken AS (
    INSERT INTO renewald.original_key (lane, original_id, shard, id)
    SELECT * FROM unnest($1::int4[], $2::text[], $3::int2[], $4::int8[])
    ON CONFLICT DO NOTHING
    RETURNING 1
)
SELECT renewald.require(count(*) = cardinality($1), 'the key of an original id') FROM taken
