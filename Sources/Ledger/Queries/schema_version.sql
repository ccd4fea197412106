-- The newest migration that has been applied, and the oldest version whose programs go on working with it: by
-- its own word, else the version before (a list of 0.1 has no such column). One row: version int4, 0 for none;
-- serves int4.
SELECT applied.version, applied.serves
FROM (
    SELECT version, coalesce((to_jsonb(migration) ->> 'serves')::int4, version - 1) AS serves
    FROM renewald.migration
    UNION ALL
    SELECT 0, 0
) AS applied
ORDER BY applied.version DESC
LIMIT 1
