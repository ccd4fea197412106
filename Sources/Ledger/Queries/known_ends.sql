-- Ends that were to renew, by their minute, whether they were asked about yet or not: in one statement, since another
-- worker that commits between two would take an end from the one count before it is in the other. Purchases that were
-- not asked about are due now or soon: of each shard the first 1,000 are read, so that a backlog of millions costs no
-- more.
-- $1 int4 (lane); $2 timestamptz and $3 timestamptz (after the one, up to the other); $4 timestamptz (now). One row
-- a minute.
WITH soon AS MATERIALIZED (
    SELECT date_trunc('minute', first.ends_at) AS minute, count(*) AS ends
    FROM renewald.every_shard AS place
    CROSS JOIN LATERAL (
        SELECT coalesce(purchase.expires_at, purchase.paid_through) AS ends_at
        FROM (
            SELECT schedule.id
            FROM renewald.schedule
            WHERE schedule.shard = place.shard
              AND schedule.lane = $1::int4
              AND schedule.due_at <= $4::timestamptz + interval '1 hour'
            ORDER BY schedule.due_at
            LIMIT 1000
        ) AS due
        JOIN renewald.purchase ON purchase.shard = place.shard AND purchase.id = due.id
        WHERE purchase.access = 'granted'
          AND purchase.kind = 'auto_renewable'
          AND coalesce(purchase.renews_next, purchase.auto_renew) IS NOT FALSE
    ) AS first
    WHERE first.ends_at > $2::timestamptz
      AND first.ends_at < $3::timestamptz + interval '1 minute'
    GROUP BY minute
)
SELECT known.minute, sum(known.ends)::int8 AS ends
FROM (
    SELECT loss.minute, loss.ends::int8 AS ends
    FROM renewald.loss_count AS loss
    WHERE loss.lane = $1::int4
      AND loss.minute > $2::timestamptz
      AND loss.minute <= $3::timestamptz
      AND loss.ends > 0
    UNION ALL
    SELECT soon.minute, soon.ends FROM soon
) AS known
GROUP BY known.minute
