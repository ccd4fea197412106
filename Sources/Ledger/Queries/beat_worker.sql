-- Says that a worker is alive for another lease.
-- $1 uuid (worker); $2 text (name); $3 int8 (lease, microseconds). No rows.
INSERT INTO renewald.worker (id, name, seen_until)
VALUES ($1, $2, now() + $3 * interval '1 microsecond')
ON CONFLICT (id) DO UPDATE SET seen_until = excluded.seen_until
