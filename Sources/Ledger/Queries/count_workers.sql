-- How many workers are alive. No parameters. One row: workers int8.
SELECT count(*) AS workers FROM renewald.worker WHERE seen_until > now()
