-- Whether any question about a refund is open, and the database's time. No parameters, one row.
SELECT
    now() AS now,
    EXISTS (SELECT FROM renewald.refund_request AS request WHERE request.state = 'open') AS has_open
