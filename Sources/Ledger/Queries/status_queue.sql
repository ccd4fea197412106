-- What is due and what is wrong, by app. No parameters. One row an app.
SELECT
    app.store, app.app, count(schedule.id) AS purchases,
    count(*) FILTER (WHERE schedule.due_at <= now()) AS due,
    min(schedule.due_at) FILTER (WHERE schedule.due_at <= now()) AS oldest_due_at,
    min(schedule.due_at) FILTER (
        WHERE schedule.due_at > now() AND schedule.due_at < '9999-12-31 00:00+00') AS next_due_at,
    max(schedule.checked_at) AS last_verdict_at,
    count(*) FILTER (WHERE schedule.problem LIKE 'set_aside:%') AS set_aside,
    count(schedule.problem) AS problems, now() AS now
FROM renewald.app
LEFT JOIN renewald.schedule USING (lane)
GROUP BY app.store, app.app
ORDER BY app.store, app.app
