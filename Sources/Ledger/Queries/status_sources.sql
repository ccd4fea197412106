-- The sources of hints of apps that are configured. No parameters. One row a source: when it was last read,
-- failures in a row since, what is wrong with it, and whether nothing has come from it though something of its app
-- was submitted, a week ago or earlier: what was heard is kept for a month.
SELECT
    source.source, source.pulled_at, source.failures, source.problem,
    source.pulled_at IS NOT NULL
    AND EXISTS (
        SELECT
        FROM renewald.app
        JOIN renewald.token_key ON token_key.lane = app.lane
        WHERE app.store = split_part(source.source, ' ', 1)
          AND app.app = split_part(source.source, ' ', 2)
          AND app.counted_since < now() - interval '7 days'
          AND source.source = app.store || ' ' || app.app || ' notifications')
    AND NOT EXISTS (
        SELECT FROM renewald.heard_hint WHERE heard_hint.source = source.source) AS is_silent
FROM renewald.hint_source AS source
WHERE NOT EXISTS (
    SELECT FROM renewald.app
    WHERE app.store = split_part(source.source, ' ', 1)
      AND app.app = split_part(source.source, ' ', 2)
      AND app.configured IS false)
ORDER BY source.source
