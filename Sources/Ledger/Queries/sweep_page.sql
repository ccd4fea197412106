-- What of one lane is not due in the given shards, in the order of the queue. A plain read.
-- $1 int2[], $2 timestamptz[], $3 int8[] (shards, and for each the place after which to go on); $4 int4
-- (lane); $5 int4 (most of one shard). One row a purchase, also where parts of
-- it are missing.
SELECT
    later.shard, later.due_at, later.id, later.checked_at, later.in_vain_at,
    purchase.state, purchase.access, purchase.kind, purchase.auto_renew,
    coalesce(purchase.phase = 'trial', false) AS is_free, purchase.created_at,
    coalesce(purchase.expires_at, purchase.paid_through) AS ends_at,
    later.attempts > 0 OR later.in_vain_since IS NOT NULL OR purchase.doubt IS NOT NULL AS is_troubled
FROM renewald.every_shard AS place
CROSS JOIN LATERAL (
    SELECT
        schedule.shard, schedule.due_at, schedule.id, schedule.checked_at, schedule.attempts,
        schedule.in_vain_since, schedule.in_vain_at
    FROM renewald.schedule
    WHERE schedule.shard = place.shard
      AND schedule.lane = $4
      AND schedule.due_at > now()
      AND schedule.due_at < '9000-01-01 00:00+00'
      AND schedule.crashes = 0
      AND (schedule.due_at, schedule.id)
          > (($2::timestamptz[])[array_position($1::int2[], place.shard)],
              ($3::int8[])[array_position($1::int2[], place.shard)])
    ORDER BY schedule.due_at, schedule.id
    LIMIT $5
) AS later
LEFT JOIN renewald.purchase ON purchase.shard = later.shard AND purchase.id = later.id
WHERE place.shard = ANY ($1::int2[])
ORDER BY later.shard, later.due_at, later.id
