-- The sources of hints of apps that are configured. No parameters. One row a source: when it was last read,
-- failures in a row since, and what is wrong with it.
SELECT source.source, source.pulled_at, source.failures, source.problem
FROM renewald.hint_source AS source
WHERE NOT EXISTS (
    SELECT FROM renewald.app
    WHERE app.store = split_part(source.source, ' ', 1)
      AND app.app = split_part(source.source, ' ', 2)
      AND app.configured IS false)
ORDER BY source.source
