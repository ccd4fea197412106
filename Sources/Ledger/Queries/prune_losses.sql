-- Forgets what is older than the past four weeks. No parameters. No rows.
DELETE FROM renewald.loss_count WHERE minute < now() - interval '28 days'
