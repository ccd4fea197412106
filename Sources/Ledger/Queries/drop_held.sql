-- Forgets that revocations of these purchases were held. A row a purchase. No rows.
DELETE FROM renewald.held_revocation AS held
USING unnest($rows) AS settled (shard int2, purchase_id int8)
WHERE held.shard = settled.shard
  AND held.purchase_id = settled.purchase_id
