-- How well autovacuum keeps up with the tables that are written most. No parameters. One row a table.
SELECT
    stat.relname::text AS name, stat.n_live_tup AS live, stat.n_dead_tup AS dead,
    greatest(stat.last_autovacuum, stat.last_vacuum) AS vacuumed_at, now() AS now,
    -- As it was typed: any word that PostgreSQL reads as false.
    coalesce(
        (
            SELECT NOT split_part(setting, '=', 2)::boolean
            FROM unnest(class.reloptions) AS setting
            WHERE setting LIKE 'autovacuum_enabled=%'
        ), false) AS is_exempt
FROM pg_stat_user_tables AS stat
JOIN pg_class AS class ON class.oid = stat.relid
WHERE stat.schemaname = 'renewald'
  AND stat.relname IN (
    'schedule', 'purchase', 'entitlement', 'event', 'account', 'shard', 'bucket', 'event_counter')
ORDER BY stat.relname <> 'schedule', stat.relname
