-- How many workers are alive; one that says so for longer than any did it before the clock was set back. No parameters.
-- One row: workers int8.
SELECT count(*) AS workers
FROM renewald.worker
WHERE seen_until > now() AND seen_until <= now() + interval '65 minutes'
