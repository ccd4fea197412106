-- Takes original ids for purchases; fails when another was faster. One row.
WITH taken AS (
    INSERT INTO renewald.original_key ($columns)
    SELECT wanted.* FROM unnest($rows) AS wanted (lane int4, original_id text, shard int2, id int8)
    ON CONFLICT DO NOTHING
    RETURNING 1
)
SELECT renewald.require(count(*) = cardinality($lane), 'the key of an original id') FROM taken
