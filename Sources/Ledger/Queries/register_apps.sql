-- Gives each of the apps a lane that has none yet. No number is spent on one that is known.
-- $1 text[] and $2 text[] (stores, bundle ids or package names). No rows.
INSERT INTO renewald.app (store, app)
SELECT DISTINCT given.store, given.app
FROM unnest($1::text[], $2::text[]) AS given (store, app)
WHERE NOT EXISTS (
    SELECT FROM renewald.app AS known WHERE known.store = given.store AND known.app = given.app)
ON CONFLICT DO NOTHING
