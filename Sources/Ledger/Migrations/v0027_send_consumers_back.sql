-- Where events were lost, a counter that is raised does not bring back to a consumer what was written under numbers that it
-- had read before: it is told to go back. Programs that were written for any earlier version go on.
CREATE OR REPLACE FUNCTION renewald.events_after(cursor bigint, max_rows int DEFAULT 1000)
    RETURNS SETOF renewald.events
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    newest int8;
BEGIN
    IF $2 < 1 THEN
        RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
            MESSAGE = format('renewald.events_after: max_rows is %s, and at least 1 is needed', $2);
    END IF;
    RETURN QUERY SELECT * FROM renewald.events AS event
        WHERE event.id > coalesce($1, 0) ORDER BY event.id LIMIT least(coalesce($2, 1000), 100000);
    IF NOT FOUND AND $1 > 0 AND NOT pg_is_in_recovery() THEN
        SELECT last_id INTO newest FROM renewald.event_counter;
        -- More than any fleet writes in years.
        IF $1 - newest > 1000000000 THEN
            RAISE EXCEPTION USING ERRCODE = 'RN002',
                MESSAGE = format('renewald.events_after: the cursor is %s, and the newest event is %s: '
                    'this is no cursor of this database', $1, newest),
                HINT = 'A consumer begins with 0, and then passes the id of the last event that it has read.';
        ELSIF $1 > newest THEN
            RAISE EXCEPTION USING ERRCODE = 'RN002',
                MESSAGE = format('renewald.events_after: the cursor is %s, and the newest event is %s: '
                    'this database has lost events, or the cursor is of another one', $1, newest),
                HINT = format('After a restore, or when a standby that was behind has taken over, an '
                    'administrator runs once, with the greatest cursor of all consumers: UPDATE '
                    'renewald.event_counter SET last_id = greatest(last_id, %s). Where renewald has run '
                    'since, each consumer goes back to the last event from before: the new events have '
                    'numbers that it has read already.', $1);
        END IF;
    END IF;
END $$;
