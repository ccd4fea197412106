-- What keeps vacuum from removing dead rows: transactions, prepared transactions and replication slots
-- for at least $1 int8 (microseconds), the oldest first. The start of another user's transaction is hidden
-- from a user without pg_read_all_stats: then it counts by its age in transactions, from $2 int4 on. A
-- slot counts so as well, and always when nobody reads it. One row each: kind, name, pid (null where there is none), since (null where it is hidden or unknown), age
-- (transactions), now.
SELECT holder.kind, holder.name, holder.pid, holder.since, holder.age, now() AS now
FROM (
    SELECT
        true AS is_active, CASE WHEN backend_type = 'walsender' THEN 'standby' ELSE 'transaction' END AS kind,
        coalesce(application_name, '') AS name, pid, xact_start AS since,
        greatest(age(backend_xmin), age(backend_xid)) AS age
    FROM pg_stat_activity
    WHERE pid <> pg_backend_pid()
      AND (backend_xmin IS NOT NULL OR backend_xid IS NOT NULL)
      AND (datid IS NULL OR datname = current_database())
      AND backend_type IS DISTINCT FROM 'autovacuum worker'
    UNION ALL
    SELECT true, 'prepared', gid, NULL, prepared, age(transaction)
    FROM pg_prepared_xacts
    WHERE database = current_database()
    UNION ALL
    SELECT active, 'slot', slot_name::text, active_pid, NULL, greatest(age(xmin), age(catalog_xmin))
    FROM pg_replication_slots
    WHERE xmin IS NOT NULL OR catalog_xmin IS NOT NULL
) AS holder
WHERE CASE WHEN holder.since IS NOT NULL
    THEN holder.since <= now() - $1 * interval '1 microsecond'
    ELSE NOT holder.is_active OR holder.age >= $2 END
ORDER BY holder.age DESC NULLS LAST, holder.since
LIMIT 20
