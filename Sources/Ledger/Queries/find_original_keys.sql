-- Whose the given original ids are.
-- $1 int4[], $2 text[] (lanes, original ids). One row for each that is taken.
SELECT known.lane, known.original_id, known.shard, known.id
FROM unnest($1::int4[], $2::text[]) AS wanted (lane, original_id)
JOIN renewald.original_key AS known
    ON known.lane = wanted.lane AND known.original_id = wanted.original_id
