-- How many purchases have which problem. No parameters. One row an app and code.
SELECT app.store, app.app, split_part(told.problem, ':', 1) AS code, count(*) AS purchases
FROM renewald.schedule
JOIN renewald.app USING (lane)
CROSS JOIN LATERAL renewald.problem_of(app.configured, schedule.problem) AS told (problem)
WHERE told.problem IS NOT NULL
GROUP BY app.store, app.app, code
ORDER BY app.store, app.app, code
