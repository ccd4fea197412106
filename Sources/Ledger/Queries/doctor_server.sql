-- What the server is and how it is set; settings of the role and the database as the session began with
-- them. The type of another user's session is hidden from a user without pg_read_all_stats. No
-- parameters. One row.
SELECT
    current_setting('server_version') AS version,
    current_setting('server_version_num')::int4 AS version_number,
    pg_is_in_recovery() AS in_recovery,
    current_setting('transaction_read_only')::bool AS read_only,
    pg_backend_pid() AS pid,
    current_setting('server_encoding') AS encoding,
    clock_timestamp() AS now,
    pg_has_role('pg_read_all_stats', 'USAGE') AS sees_all_sessions,
    current_setting('fsync')::bool AS fsync,
    current_setting('full_page_writes')::bool AS full_page_writes,
    (SELECT reset_val FROM pg_settings WHERE name = 'synchronous_commit') AS synchronous_commit,
    (SELECT reset_val FROM pg_settings WHERE name = 'default_transaction_isolation') AS isolation,
    current_setting('autovacuum')::bool AND current_setting('track_counts')::bool AS autovacuum,
    current_setting('max_connections')::int4
        - current_setting('superuser_reserved_connections')::int4 AS connections,
    (
        SELECT count(*) FROM pg_stat_activity
        WHERE datid IS NOT NULL AND backend_type IS DISTINCT FROM 'autovacuum worker'
    ) AS connected
