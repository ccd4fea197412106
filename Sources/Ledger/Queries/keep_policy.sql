-- Keeps a policy with its products, once.
-- $1 text (JSON). One row: its number; none where another session keeps it at this moment.
WITH given AS MATERIALIZED (
    SELECT sha256(convert_to($1, 'UTF8')) AS digest
), known AS MATERIALIZED (
    SELECT policy.id FROM renewald.policy JOIN given USING (digest)
), added AS (
    INSERT INTO renewald.policy (digest, rules)
    SELECT given.digest, $1::text::jsonb FROM given
    WHERE NOT EXISTS (SELECT FROM known)
    ON CONFLICT DO NOTHING
    RETURNING id
)
SELECT id FROM known
UNION ALL
SELECT id FROM added
