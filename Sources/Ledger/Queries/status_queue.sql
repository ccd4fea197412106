-- What is due, what waits behind it and what is wrong, by app. Purchases of an app that is not configured are never
-- due. No parameters. One row an app; imported and imported_at are null where nothing was imported.
SELECT
    app.store, app.app, app.configured, count(schedule.id) AS purchases,
    count(*) FILTER (WHERE schedule.due_at <= now() AND app.configured IS NOT false) AS due,
    min(schedule.due_at) FILTER (WHERE schedule.due_at <= now() AND app.configured IS NOT false)
        AS oldest_due_at,
    min(schedule.due_at) FILTER (
        WHERE schedule.due_at > now() AND schedule.due_at < '9000-01-01 00:00+00'
            AND app.configured IS NOT false) AS next_due_at,
    max(schedule.checked_at) AS last_verdict_at,
    count(*) FILTER (WHERE schedule.problem LIKE 'set_aside:%') AS set_aside,
    count(schedule.problem) AS problems,
    count(*) FILTER (
        WHERE schedule.due_at >= '9000-01-01 00:00+00' AND schedule.due_at < '9999-12-31 00:00+00'
    ) AS waiting,
    min(backfill.total) AS imported, min(backfill.started_at) AS imported_at, now() AS now
FROM renewald.app
LEFT JOIN renewald.schedule USING (lane)
LEFT JOIN renewald.backfill USING (lane)
GROUP BY app.store, app.app, app.configured
ORDER BY app.store, app.app
