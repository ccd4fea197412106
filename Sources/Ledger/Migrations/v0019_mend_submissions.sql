-- Functions of the contract, mended: clocks that were set back, purchases in several forms, receipts that were first
-- submitted with another user of their store, and reading no events. Programs that were written for any earlier version
-- go on.

-- As before, but what was checked or interrupted in the future was so before this database's clock was set back.
CREATE OR REPLACE FUNCTION renewald.wake(of_shard int2, of_lane int4, of_id int8, rest interval)
    RETURNS boolean LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    -- The transaction of whoever submits may have begun a while ago.
    latest timestamptz := now() + interval '1 minute';
    next_due timestamptz;
    interrupts boolean;
BEGIN
    UPDATE renewald.credential AS asked
        SET interrupted_at = now()
        FROM renewald.schedule AS kept, renewald.shard AS own
        WHERE asked.shard = of_shard AND asked.id = of_id
            AND coalesce(
                asked.interrupted_at <= now() - interval '10 seconds' OR asked.interrupted_at > latest,
                true)
            AND kept.shard = of_shard AND kept.lane = of_lane AND kept.id = of_id
            AND kept.due_at < now() AND (kept.checked_at IS NOT NULL OR kept.attempts > 0)
            AND own.shard = of_shard AND of_id = ANY (own.in_hand);
    interrupts := FOUND;
    UPDATE renewald.schedule AS kept
        SET due_at = greatest(
                now(), CASE WHEN kept.checked_at <= latest THEN kept.checked_at + rest END),
            attempts = 0, crashes = 0
        WHERE kept.shard = of_shard AND kept.lane = of_lane AND kept.id = of_id
            AND (kept.due_at > greatest(
                    now(), CASE WHEN kept.checked_at <= latest THEN kept.checked_at + rest END)
                OR interrupts AND kept.due_at < now())
        RETURNING kept.due_at INTO next_due;
    IF next_due <= now() THEN
        PERFORM pg_notify('renewald_due', of_lane::text);
    END IF;
    RETURN next_due IS NOT NULL;
END $$;

-- Whether two purchases are one that is shared: one of them is the other's copy, or both are copies of a third. Those
-- are no two forms of one purchase: each user has their own.
CREATE FUNCTION renewald.is_shared_as(
    one_shard int2, one_id int8, other_shard int2, other_id int8) RETURNS boolean
    LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
    AS $$
        WITH given AS MATERIALIZED (
            SELECT form.id, coalesce((
                -- By the user: there is no index of copies.
                SELECT min(claimant.id) FROM renewald.claimant
                WHERE claimant.user_id = form.user_id AND claimant.copy_id = form.id), form.id) AS original
            FROM renewald.purchase AS form
            WHERE (form.shard, form.id) IN (($1, $2), ($3, $4))
        )
        SELECT count(*) = 2 AND count(DISTINCT given.original) = 1 FROM given
    $$;
COMMENT ON FUNCTION renewald.is_shared_as(int2, int8, int2, int8) IS
    'Whether one of two purchases is the copy of the other, or both are copies of a third.';

-- An Amazon receipt belongs to one Amazon user, and its store was asked about another one, in vain: who hands it in
-- with a user that was not tried has it from now on, and who had it is one who claims it. Nothing of it was ever
-- granted or told. True when it was handed over.
CREATE FUNCTION renewald.hand_over_untried(
    of_lane int4, of_shard int2, of_id int8, by_user text, new_product text, new_store_user_id text)
    RETURNS boolean LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    new_shard int2 := renewald.shard_of(by_user);
    old_user text;
    old_version int8;
    token_digest bytea;
BEGIN
    SELECT known.user_id, known.version,
            coalesce(asked.digest, sha256(convert_to(asked.token, 'UTF8')))
        INTO old_user, old_version, token_digest
        FROM renewald.purchase AS known
        JOIN renewald.app ON app.lane = known.lane AND app.store = 'amazon'
        JOIN renewald.credential AS asked ON asked.shard = known.shard AND asked.id = known.id
        JOIN renewald.schedule AS kept
            ON kept.shard = known.shard AND kept.lane = known.lane AND kept.id = known.id
        WHERE known.shard = of_shard AND known.id = of_id AND known.user_id <> by_user
            AND new_store_user_id <> asked.store_user_id
            AND known.environment IS NULL AND known.access = 'none' AND known.lapse IS NULL
            AND (known.state = 'invalid' OR known.state = 'new' AND kept.problem LIKE 'rejected:%');
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    -- Before the purchase, as every commit locks.
    INSERT INTO renewald.account (shard, user_id) VALUES (new_shard, by_user) ON CONFLICT DO NOTHING;
    UPDATE renewald.purchase AS known
        SET shard = new_shard, user_id = by_user, product = coalesce(new_product, known.product),
            kind = NULL, state = 'new', doubt = NULL, doubt_since = NULL, claimed_by = NULL,
            claimed_by_others = true, version = known.version + 1
        WHERE known.shard = of_shard AND known.id = of_id AND known.version = old_version;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    UPDATE renewald.credential AS asked
        SET shard = new_shard, store_user_id = new_store_user_id,
            product = coalesce(new_product, asked.product)
        WHERE asked.shard = of_shard AND asked.id = of_id;
    UPDATE renewald.schedule AS kept
        SET shard = new_shard, problem = NULL, in_vain_since = NULL, in_vain_at = NULL
        WHERE kept.shard = of_shard AND kept.lane = of_lane AND kept.id = of_id;
    UPDATE renewald.token_key AS known
        SET shard = new_shard
        WHERE known.lane = of_lane AND known.digest = token_digest AND known.id = of_id;
    IF new_shard <> of_shard THEN
        INSERT INTO renewald.clue (shard, id, clue, heard_at, settled_at)
            SELECT new_shard, taken.id, taken.clue, taken.heard_at, taken.settled_at
            FROM renewald.clue AS taken WHERE taken.shard = of_shard AND taken.id = of_id
            ON CONFLICT DO NOTHING;
        DELETE FROM renewald.clue AS taken WHERE taken.shard = of_shard AND taken.id = of_id;
    END IF;
    DELETE FROM renewald.observation AS heard WHERE heard.shard = of_shard AND heard.id = of_id;
    DELETE FROM renewald.claimant
        WHERE claimant.shard = of_shard AND claimant.id = of_id AND claimant.user_id = by_user;
    UPDATE renewald.claimant SET shard = new_shard
        WHERE claimant.shard = of_shard AND claimant.id = of_id;
    INSERT INTO renewald.claimant (shard, id, user_id) VALUES (new_shard, of_id, old_user)
        ON CONFLICT DO NOTHING;
    PERFORM renewald.wake(new_shard, of_lane, of_id, '0 s');
    RETURN true;
END $$;
COMMENT ON FUNCTION renewald.hand_over_untried(int4, int2, int8, text, text, text) IS
    'Gives an Amazon receipt that was never found to the user who names another Amazon user.';

-- As before, also where the purchase has just been handed over to the user.
CREATE OR REPLACE FUNCTION renewald.tell_from_now_on(of_shard int2, of_id int8, by_user text) RETURNS void
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    is_shared boolean;
BEGIN
    UPDATE renewald.purchase AS known SET baseline = false, version = known.version + 1
        WHERE known.shard IN (of_shard, renewald.shard_of(by_user)) AND known.id = of_id
            AND known.baseline;
    SELECT known.claimed_by_others AND known.user_id <> by_user INTO is_shared
        FROM renewald.purchase AS known WHERE known.shard = of_shard AND known.id = of_id;
    IF is_shared THEN
        UPDATE renewald.purchase AS known SET baseline = false, version = known.version + 1
            FROM renewald.claimant
            WHERE claimant.shard = of_shard AND claimant.id = of_id AND claimant.user_id = by_user
                AND known.shard = renewald.shard_of(by_user) AND known.id = claimant.copy_id
                AND known.baseline;
    END IF;
END $$;

-- As before, but forms of a purchase are never followed without end, a copy is no form of its original, an Amazon
-- receipt that was never found is tried with another user of the store, and what is in force and was set aside wakes.
CREATE OR REPLACE FUNCTION renewald.submit_again(
    of_lane int4, of_shard int2, of_id int8, by_user text,
    new_product text DEFAULT NULL, new_store_user_id text DEFAULT NULL)
    RETURNS boolean LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    seen int8[] := ARRAY[of_id];
    owner text;
    latest text;
    is_fine boolean;
    twin_of text;
    own_id int8;
    first_shard int2;
    first_id int8;
BEGIN
    LOOP
        SELECT known.user_id, known.claimed_by,
                known.access = 'granted' AND known.state = 'active' AND known.doubt IS NULL
                    AND coalesce(known.expires_at > now(), true)
                    -- What is set aside is not asked about until it is submitted again.
                    AND NOT EXISTS (
                        SELECT FROM renewald.schedule AS kept
                        WHERE kept.shard = of_shard AND kept.lane = of_lane AND kept.id = of_id
                            AND kept.due_at = '9999-12-31 00:00+00'
                            AND kept.problem LIKE 'set_aside:%'),
                CASE WHEN known.state = 'superseded' THEN known.original_id END
            INTO owner, latest, is_fine, twin_of
            FROM renewald.purchase AS known WHERE known.shard = of_shard AND known.id = of_id;
        IF NOT FOUND THEN
            RETURN false;
        END IF;
        IF twin_of IS NOT NULL THEN
            SELECT known.shard, known.id INTO first_shard, first_id
                FROM renewald.original_key AS known
                WHERE known.lane = of_lane AND known.original_id = twin_of;
            IF first_id IS NOT NULL AND first_id <> ALL (seen)
                AND NOT renewald.is_shared_as(of_shard, of_id, first_shard, first_id)
            THEN
                -- The same purchase in another form: the first one is meant, as it was handed in.
                of_shard := first_shard;
                of_id := first_id;
                new_product := NULL;
                new_store_user_id := NULL;
                seen := seen || of_id;
                CONTINUE;
            END IF;
        END IF;
        EXIT WHEN owner = by_user;
        -- The user's own copy, where it still is theirs.
        SELECT copy.id INTO own_id
            FROM renewald.claimant AS known
            JOIN renewald.purchase AS copy
                ON copy.shard = renewald.shard_of(by_user) AND copy.id = known.copy_id
                AND copy.user_id = by_user
            WHERE known.shard = of_shard AND known.id = of_id AND known.user_id = by_user;
        EXIT WHEN own_id IS NULL OR own_id = ANY (seen);
        of_shard := renewald.shard_of(by_user);
        of_id := own_id;
        seen := seen || of_id;
    END LOOP;
    IF owner <> by_user AND own_id IS NULL THEN
        IF renewald.hand_over_untried(
            of_lane, of_shard, of_id, by_user, new_product, new_store_user_id)
        THEN
            RETURN true;
        END IF;
        IF latest IS DISTINCT FROM by_user THEN
            UPDATE renewald.purchase AS known
                SET claimed_by_others = true, claimed_by = by_user, version = known.version + 1
                WHERE known.shard = of_shard AND known.id = of_id AND known.user_id = owner;
            IF NOT FOUND THEN
                RETURN false;
            END IF;
            INSERT INTO renewald.claimant (shard, id, user_id) VALUES (of_shard, of_id, by_user)
                ON CONFLICT (shard, id, user_id) DO UPDATE SET claimed_at = now(), copy_id = NULL;
            PERFORM renewald.wake(of_shard, of_lane, of_id, '0 s');
            RETURN true;
        END IF;
    ELSIF owner = by_user THEN
        IF latest IS NOT NULL THEN
            -- The last to claim it is the one who has it.
            UPDATE renewald.purchase AS known
                SET claimed_by = NULL, version = known.version + 1
                WHERE known.shard = of_shard AND known.id = of_id AND known.user_id = by_user;
            IF NOT FOUND THEN
                RETURN false;
            END IF;
        END IF;
        IF renewald.correct(of_lane, of_shard, of_id, by_user, new_product, new_store_user_id) THEN
            RETURN true;
        END IF;
        -- Another product than the last time: what is in force may have been changed for it.
        UPDATE renewald.credential AS asked
            SET product = new_product
            FROM renewald.purchase AS known
            WHERE asked.shard = of_shard AND asked.id = of_id
                AND known.shard = of_shard AND known.id = of_id AND known.product <> new_product
                AND coalesce(asked.product, known.product) <> new_product;
        is_fine := is_fine AND NOT FOUND;
    END IF;
    IF NOT is_fine THEN
        PERFORM renewald.wake(of_shard, of_lane, of_id, '10 s');
    END IF;
    RETURN true;
END $$;

-- As before, but without a number of rows the usual one is meant, and one below 1 is an error: it read nothing, and a
-- consumer took that for the end.
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

REVOKE ALL ON FUNCTION
    renewald.is_shared_as(int2, int8, int2, int8),
    renewald.hand_over_untried(int4, int2, int8, text, text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
    renewald.is_shared_as(int2, int8, int2, int8),
    renewald.hand_over_untried(int4, int2, int8, text, text, text) TO renewald_worker;
