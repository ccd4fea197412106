-- Ends that were to renew, by their minute, and how many of them ended access.
-- $1 int4[] (lanes); $2 timestamptz and $3 timestamptz (after the one, up to the other). One row a minute.
SELECT loss.lane, loss.minute, loss.ends, loss.lapsed
FROM renewald.loss_count AS loss
WHERE loss.lane = ANY ($1::int4[])
  AND loss.minute > $2
  AND loss.minute <= $3
  AND loss.ends > 0
