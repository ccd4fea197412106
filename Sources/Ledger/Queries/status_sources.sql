-- The sources of hints. No parameters. One row a source: when it was last read, failures in a row since, and
-- what is wrong with it.
SELECT source, pulled_at, failures, problem
FROM renewald.hint_source
ORDER BY source
