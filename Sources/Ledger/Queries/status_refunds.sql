-- What stores ask about refunds. No parameters. One row an app that is or may be configured: questions that are open,
-- the nearest deadline of one without an answer, and how many there ever were.
SELECT
    app.store, app.app, count(request.id) FILTER (WHERE request.state = 'open') AS open,
    min(request.answer_by) FILTER (WHERE request.state = 'open') AS nearest_deadline,
    count(request.id) AS asked
FROM renewald.app
LEFT JOIN renewald.refund_request AS request ON request.lane = app.lane
WHERE app.configured IS NOT false
GROUP BY app.store, app.app
ORDER BY app.store, app.app
