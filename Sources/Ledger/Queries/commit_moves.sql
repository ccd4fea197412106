-- Hands purchases to other users: all their rows go to the shards of those. Fails unless each is
-- there. One row.
WITH hand AS MATERIALIZED (
    SELECT hand.* FROM unnest($rows) AS hand (
        shard int2, lane int4, due_at timestamptz, id int8, new_shard int2, new_user text
    )
)
SELECT renewald.require(
    bool_and(renewald.move_purchase(
        hand.shard, hand.lane, hand.due_at, hand.id, hand.new_shard, hand.new_user)),
    'the shard of a purchase that goes to another user')
FROM hand
