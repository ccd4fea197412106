-- The functions and tables in a form that Citus runs too, where all rows of a shard are on one of several servers. What
-- joins rows of two shards, or those of a shard with tables that are no shard's, reads one after the other; a row that
-- goes to another shard is taken out and put in; an UPDATE computes with nothing that depends on the time or its zone.
-- On one server all does what it did. Programs that were written for any earlier version go on.

-- For statements that look into each shard by itself.
CREATE TABLE renewald.every_shard (
    shard int2 PRIMARY KEY
);
INSERT INTO renewald.every_shard (shard) SELECT number FROM generate_series(0, 255) AS number;
ANALYZE renewald.every_shard;
COMMENT ON TABLE renewald.every_shard IS 'The numbers of all shards, 0 to 255. Never written.';
GRANT SELECT ON renewald.every_shard TO renewald_worker;

-- No key without the shard.
ALTER TABLE renewald.shadow_difference
    DROP CONSTRAINT shadow_difference_pkey,
    ADD PRIMARY KEY (shard, id);
CREATE INDEX shadow_difference_id ON renewald.shadow_difference (id);

-- As before.
CREATE OR REPLACE FUNCTION renewald.rotate_evidence(keep interval) RETURNS int
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp SET lock_timeout = '1s' SET timezone = 'UTC'
    AS $$
DECLARE
    month timestamptz;
    name text;
    dropped int := 0;
BEGIN
    -- One at a time; commits go on meanwhile.
    LOCK TABLE renewald.evidence IN SHARE UPDATE EXCLUSIVE MODE;
    FOR ahead IN 0..2 LOOP
        month := date_trunc('month', now()) + make_interval(months => ahead);
        name := 'evidence_' || to_char(month, 'YYYY_MM');
        CONTINUE WHEN to_regclass('renewald.' || name) IS NOT NULL;
        -- What has come before its month was made stays where it is, and so does the rest of that month.
        CONTINUE WHEN EXISTS (SELECT 1 FROM renewald.evidence_rest AS rest
            WHERE rest.at >= month AND rest.at < month + interval '1 month');
        EXECUTE format('CREATE TABLE renewald.%I (LIKE renewald.evidence INCLUDING ALL)', name);
        EXECUTE format('ALTER TABLE renewald.evidence ATTACH PARTITION renewald.%I '
            'FOR VALUES FROM (%L) TO (%L)', name, month, month + interval '1 month');
    END LOOP;
    FOR name IN
        SELECT child.relname FROM pg_inherits
        JOIN pg_class AS child ON child.oid = pg_inherits.inhrelid
        WHERE pg_inherits.inhparent = 'renewald.evidence'::regclass
            AND child.relname ~ '^evidence_\d{4}_\d{2}$'
            AND to_date(right(child.relname, 7), 'YYYY_MM') + interval '1 month' < now() - keep
    LOOP
        BEGIN
            EXECUTE format('DROP TABLE renewald.%I', name);
            dropped := dropped + 1;
        EXCEPTION
            WHEN lock_not_available THEN EXIT;
        END;
    END LOOP;
    DELETE FROM renewald.evidence_rest AS rest WHERE rest.at < now() - keep;
    RETURN dropped;
END $$;

-- As before.
CREATE OR REPLACE FUNCTION renewald.wake(of_shard int2, of_lane int4, of_id int8, rest interval)
    RETURNS boolean LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    -- The transaction of whoever submits may have begun a while ago.
    began timestamptz := now();
    latest timestamptz := began + interval '1 minute';
    next_due timestamptz;
    interrupts boolean := false;
BEGIN
    IF EXISTS (
        SELECT FROM renewald.shard AS own WHERE own.shard = of_shard AND of_id = ANY (own.in_hand))
    THEN
        UPDATE renewald.credential AS asked
            SET interrupted_at = began
            FROM renewald.schedule AS kept
            WHERE asked.shard = of_shard AND asked.id = of_id
                AND (asked.interrupted_at > began - interval '10 seconds'
                    AND asked.interrupted_at <= latest) IS NOT TRUE
                AND kept.shard = of_shard AND kept.lane = of_lane AND kept.id = of_id
                AND kept.due_at < began AND (kept.checked_at IS NOT NULL OR kept.attempts > 0);
        interrupts := FOUND;
    END IF;
    -- The sum is the same in UTC, and there it depends on no zone.
    UPDATE renewald.schedule AS kept
        SET due_at = greatest(began, CASE WHEN kept.checked_at <= latest THEN
                (kept.checked_at AT TIME ZONE 'UTC' + rest) AT TIME ZONE 'UTC' END),
            attempts = 0, crashes = 0
        WHERE kept.shard = of_shard AND kept.lane = of_lane AND kept.id = of_id
            AND (kept.due_at > greatest(began, CASE WHEN kept.checked_at <= latest THEN
                    (kept.checked_at AT TIME ZONE 'UTC' + rest) AT TIME ZONE 'UTC' END)
                OR interrupts AND kept.due_at < began)
        RETURNING kept.due_at INTO next_due;
    IF next_due <= began THEN
        PERFORM pg_notify('renewald_due', of_lane::text);
    END IF;
    RETURN next_due IS NOT NULL;
END $$;

-- As before.
CREATE OR REPLACE FUNCTION renewald.is_shared_as(
    one_shard int2, one_id int8, other_shard int2, other_id int8) RETURNS boolean
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    one_user text;
    other_user text;
    one_original int8;
    other_original int8;
BEGIN
    SELECT form.user_id INTO one_user FROM renewald.purchase AS form
        WHERE form.shard = one_shard AND form.id = one_id;
    SELECT form.user_id INTO other_user FROM renewald.purchase AS form
        WHERE form.shard = other_shard AND form.id = other_id;
    -- By the user: there is no index of copies.
    SELECT coalesce(min(claimant.id), one_id) INTO one_original FROM renewald.claimant
        WHERE claimant.user_id = one_user AND claimant.copy_id = one_id;
    SELECT coalesce(min(claimant.id), other_id) INTO other_original FROM renewald.claimant
        WHERE claimant.user_id = other_user AND claimant.copy_id = other_id;
    RETURN (one_shard, one_id) <> (other_shard, other_id) AND one_user IS NOT NULL
        AND other_user IS NOT NULL AND one_original = other_original;
END $$;

-- Gives a purchase to another user: all its rows go to that user's shard, where they are written anew. Who had it is one
-- who claims it, in the place of the new one. As the owner of the schema: the worker's role takes no purchase away. False
-- when it is not there.
CREATE FUNCTION renewald.move_purchase(
    of_shard int2, of_lane int4, of_due_at timestamptz, of_id int8, new_shard int2, new_user text)
    RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    old_user text;
    -- Whole rows, so that what a later version adds to them moves too.
    bought renewald.purchase;
    held renewald.credential;
    due renewald.schedule;
BEGIN
    DELETE FROM renewald.purchase AS known
        WHERE known.shard = of_shard AND known.id = of_id
        RETURNING known.* INTO bought;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    old_user := bought.user_id;
    bought.shard := new_shard;
    bought.user_id := new_user;
    bought.claimed_by := NULL;
    INSERT INTO renewald.purchase VALUES (bought.*);

    DELETE FROM renewald.credential AS asked
        WHERE asked.shard = of_shard AND asked.id = of_id
        RETURNING asked.* INTO held;
    PERFORM renewald.require(FOUND, 'the token of a purchase');
    held.shard := new_shard;
    INSERT INTO renewald.credential VALUES (held.*);

    DELETE FROM renewald.schedule AS kept
        WHERE kept.shard = of_shard AND kept.lane = of_lane AND kept.due_at = of_due_at AND kept.id = of_id
        RETURNING kept.* INTO due;
    PERFORM renewald.require(FOUND, 'the place of a purchase in the schedule');
    due.shard := new_shard;
    INSERT INTO renewald.schedule VALUES (due.*);

    UPDATE renewald.token_key AS known
        SET shard = new_shard
        WHERE known.lane = of_lane AND known.id = of_id
            AND known.digest = coalesce(held.digest, sha256(convert_to(held.token, 'UTF8')));
    UPDATE renewald.original_key AS known
        SET shard = new_shard
        WHERE known.id = of_id AND known.shard = of_shard;
    -- What was heard is kept anew by the commit that moves it.
    DELETE FROM renewald.observation AS heard WHERE heard.shard = of_shard AND heard.id = of_id;
    WITH taken AS (
        DELETE FROM renewald.clue AS taken WHERE taken.shard = of_shard AND taken.id = of_id
        RETURNING taken.id, taken.clue, taken.heard_at, taken.settled_at
    )
    -- What another purchase of the same id has left there is as good.
    INSERT INTO renewald.clue (shard, id, clue, heard_at, settled_at)
        SELECT new_shard, taken.id, taken.clue, taken.heard_at, taken.settled_at FROM taken
        ON CONFLICT DO NOTHING;
    WITH taken AS (
        DELETE FROM renewald.claimant AS taken WHERE taken.shard = of_shard AND taken.id = of_id
        RETURNING taken.id, taken.user_id, taken.claimed_at, taken.copy_id
    )
    INSERT INTO renewald.claimant (shard, id, user_id, claimed_at, copy_id)
        SELECT new_shard, taken.id, CASE WHEN taken.user_id = new_user THEN old_user ELSE taken.user_id END,
            taken.claimed_at, taken.copy_id
        FROM taken;
    RETURN true;
END $$;
COMMENT ON FUNCTION renewald.move_purchase(int2, int4, timestamptz, int8, int2, text) IS
    'Gives a purchase to another user: all its rows go to the shard of that user.';

-- As before.
CREATE OR REPLACE FUNCTION renewald.hand_over_untried(
    of_lane int4, of_shard int2, of_id int8, by_user text, new_product text, new_store_user_id text)
    RETURNS boolean LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    new_shard int2 := renewald.shard_of(by_user);
    old_user text;
    old_version int8;
    place timestamptz;
BEGIN
    IF NOT EXISTS (SELECT FROM renewald.app WHERE app.lane = of_lane AND app.store = 'amazon') THEN
        RETURN false;
    END IF;
    SELECT known.user_id, known.version INTO old_user, old_version
        FROM renewald.purchase AS known
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
        SET product = coalesce(new_product, known.product), kind = NULL, state = 'new', doubt = NULL,
            doubt_since = NULL, claimed_by_others = true, version = known.version + 1
        WHERE known.shard = of_shard AND known.id = of_id AND known.version = old_version;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    UPDATE renewald.credential AS asked
        SET store_user_id = new_store_user_id, product = coalesce(new_product, asked.product)
        WHERE asked.shard = of_shard AND asked.id = of_id;
    UPDATE renewald.schedule AS kept
        SET problem = NULL, in_vain_since = NULL, in_vain_at = NULL
        WHERE kept.shard = of_shard AND kept.lane = of_lane AND kept.id = of_id
        RETURNING kept.due_at INTO place;
    DELETE FROM renewald.claimant
        WHERE claimant.shard = of_shard AND claimant.id = of_id AND claimant.user_id = by_user;
    PERFORM renewald.move_purchase(of_shard, of_lane, place, of_id, new_shard, by_user);
    INSERT INTO renewald.claimant (shard, id, user_id) VALUES (new_shard, of_id, old_user)
        ON CONFLICT DO NOTHING;
    PERFORM renewald.wake(new_shard, of_lane, of_id, '0 s');
    RETURN true;
END $$;

-- As before.
CREATE OR REPLACE FUNCTION renewald.tell_from_now_on(of_shard int2, of_id int8, by_user text) RETURNS void
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    is_shared boolean;
    own_id int8;
BEGIN
    UPDATE renewald.purchase AS known SET baseline = false, version = known.version + 1
        WHERE known.shard IN (of_shard, renewald.shard_of(by_user)) AND known.id = of_id
            AND known.baseline;
    SELECT known.claimed_by_others AND known.user_id <> by_user INTO is_shared
        FROM renewald.purchase AS known WHERE known.shard = of_shard AND known.id = of_id;
    IF is_shared THEN
        SELECT claimant.copy_id INTO own_id FROM renewald.claimant
            WHERE claimant.shard = of_shard AND claimant.id = of_id AND claimant.user_id = by_user;
        UPDATE renewald.purchase AS known SET baseline = false, version = known.version + 1
            WHERE known.shard = renewald.shard_of(by_user) AND known.id = own_id AND known.baseline;
    END IF;
END $$;

-- As before.
CREATE OR REPLACE FUNCTION renewald.submit_again(
    of_lane int4, of_shard int2, of_id int8, by_user text,
    new_product text DEFAULT NULL, new_store_user_id text DEFAULT NULL)
    RETURNS boolean LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    began timestamptz := now();
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
                    AND coalesce(known.expires_at > began, true)
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
        SELECT known.copy_id INTO own_id FROM renewald.claimant AS known
            WHERE known.shard = of_shard AND known.id = of_id AND known.user_id = by_user;
        EXIT WHEN own_id IS NULL;
        SELECT copy.id INTO own_id FROM renewald.purchase AS copy
            WHERE copy.shard = renewald.shard_of(by_user) AND copy.id = own_id
                AND copy.user_id = by_user;
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
                ON CONFLICT (shard, id, user_id)
                DO UPDATE SET claimed_at = excluded.claimed_at, copy_id = NULL;
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

-- As before.
CREATE OR REPLACE FUNCTION renewald.take_in(
    user_ids text[], stores text[], apps text[], products text[], tokens text[], store_user_ids text[],
    imported boolean, as_baseline boolean)
    RETURNS TABLE (n int, id int8, is_new boolean, error text)
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
    AS $$
#variable_conflict use_column
DECLARE
    faults text[];
    digests bytea[];
    names text[];
    lanes int4[];
    ids int8[] := array_fill(NULL::int8, ARRAY[greatest(cardinality(take_in.tokens), 1)]);
    are_new boolean[] := array_fill(false, ARRAY[greatest(cardinality(take_in.tokens), 1)]);
    added_numbers int8[];
    added_ids int8[];
    first_due timestamptz := now() + CASE WHEN imported THEN interval '7000 years' ELSE '0 s' END;
    waiting_until timestamptz;
    counted_lane int4;
    known record;
    kept_shard int2;
    kept_id int8;
    settled boolean;
BEGIN
    SELECT array_agg(judged.fault ORDER BY given.n),
            array_agg(CASE WHEN judged.fault IS NULL THEN sha256(convert_to(judged.token, 'UTF8')) END
                ORDER BY given.n),
            array_agg(CASE WHEN renewald.is_app_receipt(given.store, judged.token) THEN given.product
                ELSE '' END ORDER BY given.n)
        INTO faults, digests, names
        FROM unnest(take_in.user_ids, take_in.stores, take_in.apps, take_in.products, take_in.tokens,
                take_in.store_user_ids)
            WITH ORDINALITY AS given (user_id, store, app, product, token, store_user_id, n)
        CROSS JOIN LATERAL (
            SELECT renewald.submission_fault(given.user_id, given.store, given.app, given.product,
                given.token, given.store_user_id), btrim(given.token, E' \t\r\n')
        ) AS judged (fault, token);

    INSERT INTO renewald.app (store, app)
        SELECT DISTINCT given.store, given.app
        FROM unnest(faults, take_in.stores, take_in.apps) AS given (fault, store, app)
        WHERE given.fault IS NULL AND NOT EXISTS (
            SELECT FROM renewald.app AS known WHERE known.store = given.store AND known.app = given.app)
        ORDER BY 1, 2
        ON CONFLICT DO NOTHING;
    SELECT array_agg(app.lane ORDER BY given.n) INTO lanes
        FROM unnest(take_in.stores, take_in.apps) WITH ORDINALITY AS given (store, app, n)
        LEFT JOIN renewald.app ON app.store = given.store AND app.app = given.app;

    IF imported THEN
        -- Nobody waits any more: what is counted begins anew.
        FOR counted_lane IN
            SELECT counted.lane FROM renewald.backfill AS counted
            WHERE counted.lane = ANY (lanes)
            ORDER BY counted.lane
        LOOP
            PERFORM FROM renewald.every_shard AS place CROSS JOIN LATERAL (
                SELECT 1 FROM renewald.schedule
                WHERE schedule.shard = place.shard AND schedule.lane = counted_lane
                    AND schedule.due_at >= '9000-01-01 00:00+00'
                    AND schedule.due_at < '9999-12-31 00:00+00'
                LIMIT 1) AS waiting
                LIMIT 1;
            IF NOT FOUND THEN
                DELETE FROM renewald.backfill AS counted WHERE counted.lane = counted_lane;
            END IF;
        END LOOP;
    END IF;

    -- In the order of the keys, so that two of these at the same time wait for each other and do not lock each other.
    WITH chosen AS MATERIALIZED (
        SELECT DISTINCT ON (given.lane, given.digest, given.name)
            given.lane, given.digest, given.name, given.n, given.user_id, given.product,
            btrim(given.token, E' \t\r\n') AS token, given.store_user_id,
            renewald.shard_of(given.user_id) AS shard
        FROM unnest(lanes, digests, names, take_in.user_ids, take_in.products, take_in.tokens,
                take_in.store_user_ids)
            WITH ORDINALITY
            AS given (lane, digest, name, user_id, product, token, store_user_id, n)
        WHERE given.digest IS NOT NULL AND NOT EXISTS (
            SELECT FROM renewald.token_key AS known
            WHERE known.lane = given.lane AND known.digest = given.digest
                AND known.product = given.name)
        ORDER BY given.lane, given.digest, given.name, given.n
    ), first AS MATERIALIZED (
        SELECT chosen.*, nextval('renewald.purchase_id') AS id FROM chosen ORDER BY chosen.n
    ), keyed AS (
        INSERT INTO renewald.token_key (lane, digest, product, shard, id)
        SELECT first.lane, first.digest, first.name, first.shard, first.id FROM first
        ORDER BY first.lane, first.digest, first.name
        ON CONFLICT DO NOTHING
        RETURNING token_key.id
    ), added AS MATERIALIZED (
        -- Looked up in a hash, whatever the planner thinks of the size of an array.
        SELECT * FROM first WHERE (first.id IN (SELECT keyed.id FROM keyed)) IS TRUE
    ), opened AS (
        INSERT INTO renewald.account (shard, user_id)
        SELECT DISTINCT added.shard, added.user_id FROM added ORDER BY 1, 2
        ON CONFLICT DO NOTHING
    ), bought AS (
        INSERT INTO renewald.purchase (shard, id, lane, user_id, product, baseline)
        SELECT added.shard, added.id, added.lane, added.user_id, added.product, take_in.as_baseline
        FROM added
    ), held AS (
        INSERT INTO renewald.credential (shard, id, token, store_user_id, product)
        SELECT added.shard, added.id, added.token, added.store_user_id, added.product FROM added
    ), due AS (
        INSERT INTO renewald.schedule (shard, lane, due_at, id)
        SELECT added.shard, added.lane, first_due, added.id FROM added
    )
    SELECT array_agg(added.n), array_agg(added.id) INTO added_numbers, added_ids FROM added;
    FOR place IN 1..coalesce(cardinality(added_numbers), 0) LOOP
        ids[added_numbers[place]] := added_ids[place];
        are_new[added_numbers[place]] := true;
    END LOOP;

    WITH heard AS (
        DELETE FROM renewald.unclaimed_hint AS hint
        USING unnest(lanes, digests, ids, take_in.user_ids) AS added (lane, digest, id, user_id)
        WHERE added.id IS NOT NULL AND hint.lane = added.lane AND hint.digest = added.digest
        RETURNING renewald.shard_of(added.user_id) AS shard, added.id, hint.clues, hint.account_token
    ), noted AS (
        INSERT INTO renewald.clue (shard, id, clue)
        SELECT heard.shard, heard.id, named.clue FROM heard CROSS JOIN unnest(heard.clues) AS named (clue)
    )
    UPDATE renewald.purchase AS named
        SET account_token = heard.account_token
        FROM heard
        WHERE named.shard = heard.shard AND named.id = heard.id AND heard.account_token IS NOT NULL;

    -- What was known before, or comes twice in this call.
    FOR known IN
        WITH keyed AS MATERIALIZED (
            SELECT given.n, given.lane, given.digest, given.name, given.user_id, given.product,
                given.store_user_id, key.shard, key.id
            FROM unnest(lanes, digests, names, take_in.user_ids, take_in.products,
                    take_in.store_user_ids, ids)
                WITH ORDINALITY
                AS given (lane, digest, name, user_id, product, store_user_id, id, n)
            LEFT JOIN renewald.token_key AS key
                ON key.lane = given.lane AND key.digest = given.digest AND key.product = given.name
            WHERE given.digest IS NOT NULL AND given.id IS NULL
        ), owned AS MATERIALIZED (
            SELECT keyed.n, keyed.lane, keyed.user_id, keyed.shard, keyed.id,
                known.user_id = keyed.user_id AS is_own,
                keyed.product = coalesce(asked.product, known.product) AND coalesce(
                    keyed.store_user_id = asked.store_user_id, keyed.store_user_id IS NULL)
                    AS is_same,
                CASE WHEN known.state = 'superseded' THEN known.original_id END AS twin_of
            FROM keyed
            JOIN renewald.purchase AS known ON known.shard = keyed.shard AND known.id = keyed.id
            JOIN renewald.credential AS asked ON asked.shard = known.shard AND asked.id = known.id
            WHERE imported
        ), meant AS MATERIALIZED (
            -- The same purchase in another form.
            SELECT owned.n, owned.user_id, coalesce(original.shard, owned.shard) AS shard,
                coalesce(original.id, owned.id) AS id
            FROM owned
            LEFT JOIN renewald.original_key AS original
                ON original.lane = owned.lane AND original.original_id = owned.twin_of
                AND original.id <> owned.id
            WHERE NOT owned.is_own
        ), settled AS MATERIALIZED (
            SELECT owned.n FROM owned WHERE owned.is_own AND owned.is_same
            UNION ALL
            SELECT meant.n FROM meant
            JOIN renewald.purchase AS known
                ON known.shard = meant.shard AND known.id = meant.id AND known.user_id = meant.user_id
            UNION ALL
            SELECT meant.n FROM meant
            JOIN renewald.claimant AS known
                ON known.shard = meant.shard AND known.id = meant.id AND known.user_id = meant.user_id
        )
        -- In a hash here too.
        SELECT keyed.*, (keyed.n IN (SELECT settled.n FROM settled)) IS TRUE AS is_settled FROM keyed
        -- In the order of the keys here too: each is locked.
        ORDER BY keyed.lane, keyed.digest, keyed.name, keyed.n
    LOOP
        -- What came before it in this call may have changed it since.
        IF known.is_settled THEN
            ids[known.n] := known.id;
            CONTINUE;
        END IF;
        settled := false;
        FOR round IN 1..20 LOOP
            SELECT key.shard, key.id INTO kept_shard, kept_id
                FROM renewald.token_key AS key
                WHERE key.lane = known.lane AND key.digest = known.digest
                    AND key.product = known.name;
            waiting_until := NULL;
            IF imported THEN
                SELECT kept.due_at INTO waiting_until FROM renewald.schedule AS kept
                    WHERE kept.shard = kept_shard AND kept.lane = known.lane AND kept.id = kept_id
                        AND kept.due_at >= '9000-01-01 00:00+00'
                        AND kept.due_at < '9999-12-31 00:00+00';
            END IF;
            settled := renewald.submit_again(known.lane, kept_shard, kept_id, known.user_id,
                known.product, known.store_user_id);
            EXIT WHEN settled;
        END LOOP;
        IF NOT settled THEN
            RAISE EXCEPTION USING ERRCODE = 'serialization_failure',
                MESSAGE = 'renewald.submit: the purchase kept moving; try again';
        END IF;
        IF imported THEN
            -- It waits on in its place.
            UPDATE renewald.schedule AS kept SET due_at = waiting_until
                WHERE kept.shard = kept_shard AND kept.lane = known.lane AND kept.id = kept_id
                    AND waiting_until IS NOT NULL;
        ELSE
            PERFORM renewald.tell_from_now_on(kept_shard, kept_id, known.user_id);
        END IF;
        ids[known.n] := kept_id;
    END LOOP;

    IF imported THEN
        INSERT INTO renewald.backfill AS known (lane, total)
            SELECT given.lane, count(*)
            FROM unnest(lanes, are_new) AS given (lane, is_new)
            WHERE given.is_new
            GROUP BY given.lane
            ORDER BY given.lane
            ON CONFLICT (lane) DO UPDATE SET total = known.total + excluded.total;
    ELSE
        PERFORM pg_notify('renewald_due', added.lane::text)
            FROM (SELECT DISTINCT given.lane FROM unnest(lanes, are_new) AS given (lane, is_new)
                WHERE given.is_new) AS added;
    END IF;
    RETURN QUERY SELECT given.n::int, given.id, given.is_new, given.fault
        FROM unnest(ids[1:cardinality(take_in.tokens)], are_new[1:cardinality(take_in.tokens)], faults)
            WITH ORDINALITY AS given (id, is_new, fault, n);
END $$;

-- As before: in PL/pgSQL, which is planned once, and whose parameters go to other servers.
CREATE OR REPLACE FUNCTION renewald.has(user_id text, entitlement text) RETURNS boolean
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    RETURN coalesce((
        SELECT held.active FROM renewald.entitlement AS held
        WHERE held.shard = renewald.shard_of($1) AND held.user_id = $1 AND held.entitlement = $2),
        false);
END $$;
CREATE OR REPLACE FUNCTION renewald.has(user_id bigint, entitlement text) RETURNS boolean
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    RETURN renewald.has($1::text, $2);
END $$;
CREATE OR REPLACE FUNCTION renewald.has(user_id uuid, entitlement text) RETURNS boolean
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    RETURN renewald.has($1::text, $2);
END $$;

-- Locks what may be locked of one shard's places in the schedule, given as its key, and passes over those that another
-- session holds. One row a place, by id. A statement over several shards cannot lock rows on Citus; one over one shard can.
CREATE FUNCTION renewald.lock_places(of_shard int2, lanes int4[], due_ats timestamptz[], ids int8[])
    RETURNS TABLE (lane int4, due_at timestamptz, id int8)
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
    AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
        SELECT place.lane, place.due_at, place.id
        FROM unnest(lanes, due_ats, ids) AS given (lane, due_at, id)
        JOIN renewald.schedule AS place
            ON place.shard = of_shard AND place.lane = given.lane AND place.due_at = given.due_at
            AND place.id = given.id
        ORDER BY place.id
        FOR NO KEY UPDATE OF place SKIP LOCKED;
END $$;
COMMENT ON FUNCTION renewald.lock_places(int2, int4[], timestamptz[], int8[]) IS
    'Locks places of one shard in the schedule, but those that another session holds.';

-- As much of the purchases and accounts of one shard: the ids and users that may be locked.
CREATE FUNCTION renewald.lock_holders(of_shard int2, ids int8[], users text[], OUT purchases int8[], OUT accounts text[])
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    purchases := ARRAY(
        SELECT kept.id FROM renewald.purchase AS kept
        WHERE kept.shard = of_shard AND kept.id = ANY (ids)
        FOR NO KEY UPDATE SKIP LOCKED);
    accounts := ARRAY(
        SELECT kept.user_id FROM renewald.account AS kept
        WHERE kept.shard = of_shard AND kept.user_id = ANY (users)
        FOR NO KEY UPDATE SKIP LOCKED);
END $$;
COMMENT ON FUNCTION renewald.lock_holders(int2, int8[], text[]) IS
    'Locks purchases and accounts of one shard, but those that another session holds.';

REVOKE ALL ON FUNCTION
    renewald.move_purchase(int2, int4, timestamptz, int8, int2, text),
    renewald.lock_places(int2, int4[], timestamptz[], int8[]),
    renewald.lock_holders(int2, int8[], text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
    renewald.move_purchase(int2, int4, timestamptz, int8, int2, text),
    renewald.lock_places(int2, int4[], timestamptz[], int8[]),
    renewald.lock_holders(int2, int8[], text[]) TO renewald_worker;
