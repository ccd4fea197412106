-- Forgets hints that nobody has submitted anything for in a month, and the oldest beyond a number.
-- $1 int8 (most that are kept). No rows.
DELETE FROM renewald.unclaimed_hint
WHERE heard_at < now() - interval '30 days'
   OR heard_at <= (
       SELECT kept.heard_at FROM renewald.unclaimed_hint AS kept
       ORDER BY kept.heard_at DESC OFFSET $1 LIMIT 1)
