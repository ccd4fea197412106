-- Hands what the store has turned down to who has claimed it and names it otherwise; to_last: to the last one rather than
-- the first. One row: how many.
WITH tried AS MATERIALIZED (
    SELECT tried.* FROM unnest($rows) AS tried (shard int2, lane int4, id int8, to_last bool)
), handed AS MATERIALIZED (
    SELECT renewald.hand_over_claimed(tried.lane, tried.shard, tried.id, tried.to_last) AS done FROM tried
)
SELECT count(*) FILTER (WHERE handed.done) AS handed FROM handed
