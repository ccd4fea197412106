-- How many purchases have which problem. No parameters. One row an app and code.
SELECT app.store, app.app, split_part(schedule.problem, ':', 1) AS code, count(*) AS purchases
FROM renewald.schedule
JOIN renewald.app USING (lane)
WHERE schedule.problem IS NOT NULL
GROUP BY app.store, app.app, code
ORDER BY app.store, app.app, code
