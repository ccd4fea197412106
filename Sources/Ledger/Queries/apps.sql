-- All apps that have ever been configured or submitted for. No parameters. One row an app.
SELECT lane, store, app FROM renewald.app ORDER BY lane
