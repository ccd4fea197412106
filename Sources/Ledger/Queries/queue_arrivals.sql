-- The purchases of the given shards that were submitted last: what nobody has told by NOTIFY is found so, by a probe a
-- shard, however many lanes there are.
-- $1 int2[] (shards); $2 int8 (the id that they come after). One row a purchase, eight a shard at most: id, lane.
SELECT late.id, late.lane
FROM renewald.every_shard AS held
CROSS JOIN LATERAL (
    SELECT purchase.id, purchase.lane
    FROM renewald.purchase
    WHERE purchase.shard = held.shard
      AND purchase.id > $2
    ORDER BY purchase.id DESC
    LIMIT 8
) AS late
WHERE held.shard = ANY ($1::int2[])
