-- Which roles there are, and what the connected user may not do of what the daemon has to. No parameters.
-- One row; missing rights are such as `UPDATE on purchase`, those of the backends' role beside them.
SELECT
    current_user::text AS user_name,
    (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) AS is_superuser,
    coalesce((
        SELECT pg_has_role(nspowner, 'USAGE') FROM pg_namespace WHERE nspname = 'renewald'
    ), false) AS owns_schema,
    coalesce((
        SELECT pg_has_role(pg_roles.oid, 'USAGE') FROM pg_roles WHERE rolname = 'renewald_worker'
    ), false) AS is_worker,
    ARRAY(
        SELECT role FROM unnest(ARRAY['renewald_app', 'renewald_worker']) AS role
        WHERE NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = role)
    ) AS missing_roles,
    ARRAY(
        SELECT lacking.name FROM (
            SELECT 'USAGE on the schema' AS name
            WHERE NOT has_schema_privilege('renewald', 'USAGE')
            UNION ALL
            SELECT privilege || ' on ' || relname
            FROM pg_class, unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS privilege
            WHERE relnamespace = 'renewald'::regnamespace AND relkind IN ('r', 'p')
              AND NOT relispartition
              -- What v0012 has taken from the role, and v0013 and v0020 not given.
              AND CASE privilege
                  WHEN 'INSERT' THEN relname NOT IN ('every_shard', 'migration')
                  WHEN 'UPDATE' THEN relname NOT IN (
                      'event', 'every_shard', 'evidence', 'migration', 'policy')
                  WHEN 'DELETE' THEN relname NOT IN (
                      'account', 'app', 'bucket', 'credential', 'entitlement', 'event',
                      'event_counter', 'every_shard', 'evidence', 'hint_source', 'migration', 'order_key',
                      'original_key', 'policy', 'purchase', 'refund_request', 'refund_rule', 'schedule',
                      'shard', 'successor_key', 'token_key', 'unhandled_type')
                  ELSE true
              END
              AND NOT has_table_privilege(pg_class.oid, privilege)
            UNION ALL
            SELECT 'UPDATE of ' || attname || ' on evidence'
            FROM pg_attribute
            WHERE attrelid = 'renewald.evidence'::regclass AND attname IN ('call_bodies', 'sealed_bodies')
              AND NOT has_column_privilege(attrelid, attnum, 'UPDATE')
            UNION ALL
            SELECT 'USAGE on ' || relname
            FROM pg_class
            WHERE relnamespace = 'renewald'::regnamespace AND relkind = 'S'
              AND relname = 'purchase_id'
              AND NOT CASE WHEN relkind = 'S' THEN has_sequence_privilege(oid, 'USAGE') END
            UNION ALL
            SELECT 'EXECUTE on ' || pg_proc.oid::regprocedure::text
            FROM pg_proc
            WHERE pronamespace = 'renewald'::regnamespace
              AND NOT has_function_privilege(oid, 'EXECUTE')
        ) AS lacking
        ORDER BY 1
    ) AS missing_rights,
    ARRAY(
        SELECT lacking.name
        FROM pg_roles AS app
        CROSS JOIN LATERAL (
            SELECT 'USAGE on the schema' AS name
            WHERE NOT has_schema_privilege(app.oid, 'renewald', 'USAGE')
            UNION ALL
            SELECT 'EXECUTE on ' || pg_proc.oid::regprocedure::text AS name
            FROM pg_proc
            WHERE pronamespace = 'renewald'::regnamespace
              AND proname IN ('answer_refund', 'events_after', 'has', 'submit', 'submit_many')
              AND NOT has_function_privilege(app.oid, pg_proc.oid, 'EXECUTE')
            UNION ALL
            SELECT 'SELECT on ' || relname
            FROM pg_class
            WHERE relnamespace = 'renewald'::regnamespace
              AND relname IN (
                  'entitlements', 'events', 'held', 'offers', 'purchases', 'refund_requests', 'unhandled_news')
              AND NOT has_table_privilege(app.oid, pg_class.oid, 'SELECT')
        ) AS lacking
        WHERE app.rolname = 'renewald_app'
        ORDER BY 1
    ) AS missing_app_rights
