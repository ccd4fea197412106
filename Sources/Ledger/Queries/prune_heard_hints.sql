-- Forgets hints that no source gives again. No parameters, no rows.
DELETE FROM renewald.heard_hint WHERE heard_at < now() - interval '30 days'
