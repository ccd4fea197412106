-- As before, but a cursor beyond the newest event is an error: the events that moved it there are lost, and
-- those that come next have numbers that it has passed. A standby may only be behind, and is silent.
CREATE OR REPLACE FUNCTION renewald.events_after(cursor bigint, max_rows int DEFAULT 1000)
    RETURNS SETOF renewald.events
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    newest int8;
BEGIN
    RETURN QUERY SELECT * FROM renewald.events AS event
        WHERE event.id > coalesce($1, 0) ORDER BY event.id LIMIT least(greatest($2, 0), 100000);
    IF NOT FOUND AND $1 > 0 AND NOT pg_is_in_recovery() THEN
        SELECT last_id INTO newest FROM renewald.event_counter;
        IF $1 > newest THEN
            RAISE EXCEPTION USING ERRCODE = 'RN002',
                MESSAGE = format('renewald.events_after: the cursor is %s, and the newest event is %s: '
                    'this database has lost events, or the cursor is of another one', $1, newest),
                HINT = format('After a restore, or when a standby that was behind has taken over, an '
                    'administrator runs once, with the greatest cursor of all consumers: UPDATE '
                    'renewald.event_counter SET last_id = greatest(last_id, %s)', $1);
        END IF;
    END IF;
END $$;
