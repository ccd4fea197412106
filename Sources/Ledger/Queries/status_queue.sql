-- What is due, what waits behind it and what is wrong, by app. Purchases of an app that is not configured are never
-- due. For people: it reads the whole schedule, once. No parameters. One row an app and code of a problem, code null of
-- those without; imported and imported_at are null where nothing was imported.
WITH counted AS MATERIALIZED (
    SELECT
        schedule.lane, split_part(schedule.problem, ':', 1) AS code, count(*) AS purchases,
        count(*) FILTER (WHERE schedule.due_at <= now()) AS due,
        min(schedule.due_at) AS first_due_at,
        min(schedule.due_at) FILTER (
            WHERE schedule.due_at > now() AND schedule.due_at < '9000-01-01 00:00+00') AS next_due_at,
        max(schedule.checked_at) AS checked_at,
        count(*) FILTER (
            WHERE schedule.due_at >= '9000-01-01 00:00+00' AND schedule.due_at < '9999-12-31 00:00+00'
        ) AS waiting
    FROM renewald.schedule
    GROUP BY schedule.lane, code
)
SELECT
    app.store, app.app, app.configured,
    CASE WHEN counted.lane IS NOT NULL
        THEN split_part(renewald.problem_of(app.configured, counted.code), ':', 1) END AS code,
    coalesce(sum(counted.purchases), 0)::int8 AS purchases,
    coalesce(sum(counted.due) FILTER (WHERE app.configured IS NOT false), 0)::int8 AS due,
    min(counted.first_due_at) FILTER (
        WHERE counted.first_due_at <= now() AND app.configured IS NOT false) AS oldest_due_at,
    min(counted.next_due_at) FILTER (WHERE app.configured IS NOT false) AS next_due_at,
    max(counted.checked_at) AS last_verdict_at,
    coalesce(sum(counted.purchases) FILTER (WHERE counted.code = 'set_aside'), 0)::int8 AS set_aside,
    coalesce(sum(counted.waiting), 0)::int8 AS waiting,
    min(backfill.total) AS imported, min(backfill.started_at) AS imported_at
FROM renewald.app
LEFT JOIN counted USING (lane)
LEFT JOIN renewald.backfill USING (lane)
GROUP BY app.store, app.app, app.configured, 4
ORDER BY app.store, app.app, 4
