-- Every purchase of the given users: what their unions are taken over.
-- $1 int2[] and $2 text[] (shards and user ids). One row a purchase.
SELECT
    purchase.shard, purchase.lane, purchase.id,
    {purchase_columns}
FROM unnest($1::int2[], $2::text[]) AS reader (shard, user_id)
JOIN renewald.purchase
    ON purchase.shard = reader.shard AND purchase.user_id = reader.user_id
JOIN renewald.credential ON credential.shard = purchase.shard AND credential.id = purchase.id
