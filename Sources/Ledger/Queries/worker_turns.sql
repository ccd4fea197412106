-- Whose turn it is where workers have configured different apps (`uneven_apps.sql`).
-- $1 uuid (worker). One row: how many workers take turns, and the place of this one among them, from 0.
SELECT
    count(*) AS workers, count(*) FILTER (WHERE worker.id < $1) AS place, now() AS now
FROM renewald.worker
WHERE worker.seen_until > now() AND worker.seen_until <= now() + interval '65 minutes'
  AND worker.lanes <> '{}'
