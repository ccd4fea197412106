-- Gives an app its lane if it has none yet.
-- $1 text (store); $2 text (bundle id or package name). No rows.
INSERT INTO renewald.app (store, app) VALUES ($1, $2) ON CONFLICT DO NOTHING
