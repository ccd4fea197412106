-- The same where no index knows it: the evidence has been dropped. Reads all purchases.
-- $1 text (the id), $2 text (Google's base id of it, or the same). One row a user.
SELECT DISTINCT purchase.user_id
FROM renewald.purchase
WHERE purchase.original_id = $2 OR purchase.order_id = $1 OR purchase.period = $1
ORDER BY purchase.user_id
