-- News that nobody handles: what is not known to be of no use first. No parameters. One row a type.
SELECT source, type, expected, count, last_seen_at
FROM renewald.unhandled_type
ORDER BY expected, source, type
