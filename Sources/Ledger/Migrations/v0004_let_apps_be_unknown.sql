-- What an app name costs that nobody has configured: nothing but its row.

-- They were asked about again after hours, also where the app had been configured meanwhile.
UPDATE renewald.schedule
SET due_at = now(), attempts = 0, problem = NULL
WHERE problem LIKE 'unsupported: no [[app]] of %'
  AND due_at > now();

-- A lane was an int2, so that 32,767 names, which may come from a client, were all that there could be. The
-- rewrite of the larger tables takes some minutes for ten million purchases; a row of the schedule and of its
-- index is as long as before.
DROP VIEW renewald.purchases;
DO $$
DECLARE
    kept record;
BEGIN
    FOR kept IN
        SELECT attrelid::regclass AS name
        FROM pg_attribute
        JOIN pg_class ON pg_class.oid = attrelid
        WHERE relnamespace = 'renewald'::regnamespace AND relkind = 'r'
            AND attname = 'lane' AND atttypid = 'int2'::regtype
        ORDER BY attrelid
    LOOP
        EXECUTE format('ALTER TABLE %s ALTER COLUMN lane TYPE int4', kept.name);
    END LOOP;
    -- The functions are the same, but for the type of what is named lane.
    FOR kept IN
        SELECT oid::regprocedure AS name, pg_get_functiondef(oid) AS definition
        FROM pg_proc
        WHERE pronamespace = 'renewald'::regnamespace AND prokind = 'f'
            AND pg_get_functiondef(oid) ~ '\w*lane (int2|smallint)\M'
    LOOP
        IF kept.name::text ~ 'smallint' THEN
            EXECUTE format('DROP FUNCTION %s', kept.name);
        END IF;
        EXECUTE regexp_replace(
            kept.definition, '(\w*lane) (int2|smallint)\M', '\1 integer', 'g');
    END LOOP;
END $$;

ALTER TABLE renewald.app
    -- Whether a worker has it in its configuration; null until one has looked. Purchases of an app that no
    -- worker has are not asked about, and say so.
    ADD COLUMN configured boolean;
CREATE INDEX app_configured ON renewald.app (lane) WHERE configured IS NOT false;
-- The apps that the worker has configured.
ALTER TABLE renewald.worker ADD COLUMN lanes int4[] NOT NULL DEFAULT '{}';

CREATE FUNCTION renewald.problem_of(configured boolean, problem text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
        SELECT CASE
            WHEN configured IS NOT false THEN problem
            ELSE 'unsupported: this app is not configured'
        END
    $$;
COMMENT ON FUNCTION renewald.problem_of(boolean, text) IS
    'What is wrong with a purchase, as people are told it.';

CREATE VIEW renewald.purchases AS
    SELECT purchase.id, purchase.user_id, app.store, app.app, purchase.environment, purchase.product,
        purchase.kind, purchase.state, purchase.access, purchase.paid_through, purchase.expires_at,
        purchase.auto_renew, purchase.order_id, purchase.original_id, schedule.checked_at,
        CASE
            WHEN app.configured IS NOT false AND schedule.due_at < '9999-12-31 00:00+00'
            THEN schedule.due_at
        END AS next_check_at,
        CASE
            WHEN app.configured IS NOT false THEN schedule.problem
            ELSE 'unsupported: this app is not configured'
        END AS problem, purchase.created_at,
        purchase.account_token, purchase.ownership
    FROM renewald.purchase
    JOIN renewald.app USING (lane)
    LEFT JOIN renewald.schedule USING (shard, lane, id);

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA renewald FROM PUBLIC;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA renewald TO renewald_worker;
GRANT SELECT ON renewald.purchases TO renewald_app, renewald_worker;
