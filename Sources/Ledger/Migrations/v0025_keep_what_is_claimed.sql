-- What a store is asked with beside the token, as the one who claims a purchase has named it: its owner may have named
-- it wrongly, and the store has not said so yet.
ALTER TABLE renewald.claimant ADD COLUMN product text, ADD COLUMN store_user_id text;
COMMENT ON COLUMN renewald.claimant.product IS 'As this user has submitted it; null where they named none.';
COMMENT ON COLUMN renewald.claimant.store_user_id IS
    'As this user has submitted it; null where they named none, empty where the store has turned it down.';

-- As before, and the claims of others move as they are. Who had it has named nothing else than the store was asked with.
CREATE OR REPLACE FUNCTION renewald.move_purchase(
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
        RETURNING taken.id, taken.user_id, taken.claimed_at, taken.copy_id, taken.product, taken.store_user_id
    )
    INSERT INTO renewald.claimant (shard, id, user_id, claimed_at, copy_id, product, store_user_id)
        SELECT new_shard, taken.id, taken.user_id, taken.claimed_at, taken.copy_id, taken.product,
            taken.store_user_id
        FROM taken WHERE taken.user_id <> new_user
        UNION ALL
        SELECT new_shard, taken.id, old_user, taken.claimed_at, taken.copy_id, NULL, NULL
        FROM taken WHERE taken.user_id = new_user;
    RETURN true;
END $$;

-- What is due stays so, and a check under way does not move it on: it has read the purchase as it was before. Needed
-- where that commits between the statement that changes the purchase and the end of its transaction.
CREATE FUNCTION renewald.touch(of_shard int2, of_lane int4, of_id int8) RETURNS void
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    began timestamptz := now();
BEGIN
    -- The sum is the same in UTC, and there it depends on no zone.
    UPDATE renewald.schedule AS kept
        SET due_at = (kept.due_at AT TIME ZONE 'UTC' + interval '1 microsecond') AT TIME ZONE 'UTC'
        WHERE kept.shard = of_shard AND kept.lane = of_lane AND kept.id = of_id AND kept.due_at <= began;
END $$;
COMMENT ON FUNCTION renewald.touch(int2, int4, int8) IS
    'Keeps a check that is under way from moving on what has just been changed.';
REVOKE ALL ON FUNCTION renewald.touch(int2, int4, int8) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION renewald.touch(int2, int4, int8) TO renewald_worker;

-- As before, and for a check that is under way.
CREATE OR REPLACE FUNCTION renewald.adopt(
    of_lane int4, of_shard int2, of_id int8, heard_clues text[], heard_account text) RETURNS void
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    -- Before the clues, as every commit locks.
    IF cardinality(heard_clues) > 0 THEN
        PERFORM renewald.touch(of_shard, of_lane, of_id);
    END IF;
    INSERT INTO renewald.clue (shard, id, clue)
        SELECT of_shard, of_id, heard.clue FROM unnest(heard_clues) AS heard (clue)
        ON CONFLICT DO NOTHING;
    IF FOUND THEN
        UPDATE renewald.schedule AS kept SET due_at = now(), attempts = 0
            WHERE kept.shard = of_shard AND kept.lane = of_lane AND kept.id = of_id AND kept.due_at > now()
                AND coalesce(kept.problem, '') NOT LIKE 'set_aside:%';
    END IF;
    UPDATE renewald.purchase AS known SET account_token = heard_account
        WHERE known.shard = of_shard AND known.id = of_id AND known.account_token IS NULL
            AND heard_account IS NOT NULL;
END $$;

-- Gives what its store has turned down to one who claims it and named it otherwise, and has the store asked with that:
-- who claimed it first, or last where the last to claim a purchase is the one who has it. False where nobody did, or it
-- was not turned down.
CREATE FUNCTION renewald.hand_over_claimed(of_lane int4, of_shard int2, of_id int8, to_last boolean)
    RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    claimed record;
    old_user text;
    other_user text;
BEGIN
    SELECT known.user_id INTO old_user FROM renewald.purchase AS known
        WHERE known.shard = of_shard AND known.id = of_id;
    -- Who has named it in the same way has named nothing else.
    UPDATE renewald.claimant
        SET product = NULL, store_user_id = CASE WHEN claimant.store_user_id IS NOT NULL THEN '' END
        FROM renewald.credential AS asked
        JOIN renewald.purchase AS known ON known.shard = asked.shard AND known.id = asked.id
        WHERE claimant.shard = of_shard AND claimant.id = of_id
            AND asked.shard = of_shard AND asked.id = of_id
            AND CASE
                WHEN asked.store_user_id IS NULL
                THEN claimant.product = coalesce(asked.product, known.product)
                ELSE claimant.store_user_id = asked.store_user_id
            END;
    FOR claimed IN
        SELECT claimant.user_id, claimant.product, claimant.store_user_id FROM renewald.claimant
            WHERE claimant.shard = of_shard AND claimant.id = of_id AND claimant.copy_id IS NULL
                AND coalesce(claimant.product, claimant.store_user_id) IS NOT NULL
                AND claimant.store_user_id IS DISTINCT FROM ''
            ORDER BY
                CASE WHEN to_last THEN claimant.claimed_at END DESC,
                CASE WHEN NOT to_last THEN claimant.claimed_at END, claimant.user_id
    LOOP
        IF renewald.hand_over_untried(
            of_lane, of_shard, of_id, claimed.user_id, claimed.product, claimed.store_user_id)
        THEN
            UPDATE renewald.claimant SET store_user_id = ''
                WHERE claimant.shard = renewald.shard_of(claimed.user_id) AND claimant.id = of_id
                    AND claimant.user_id = old_user AND claimed.store_user_id IS NOT NULL;
            IF NOT to_last THEN
                -- The others still claim it, but for the one who had it.
                SELECT claimant.user_id INTO other_user FROM renewald.claimant
                    WHERE claimant.shard = renewald.shard_of(claimed.user_id) AND claimant.id = of_id
                        AND claimant.copy_id IS NULL AND claimant.user_id <> old_user
                        AND coalesce(claimant.store_user_id = claimed.store_user_id, true)
                    ORDER BY claimant.claimed_at DESC, claimant.user_id LIMIT 1;
                UPDATE renewald.purchase AS known SET claimed_by = other_user
                    WHERE known.shard = renewald.shard_of(claimed.user_id) AND known.id = of_id;
            END IF;
            RETURN true;
        END IF;
    END LOOP;
    RETURN false;
END $$;
COMMENT ON FUNCTION renewald.hand_over_claimed(int4, int2, int8, boolean) IS
    'Gives what its store has turned down to one who claims it and names it otherwise.';
REVOKE ALL ON FUNCTION renewald.hand_over_claimed(int4, int2, int8, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION renewald.hand_over_claimed(int4, int2, int8, boolean) TO renewald_worker;

-- As before, but that only what was heard of the version before counts for the new one.
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
    IF FOUND THEN
        PERFORM renewald.stays_heard(of_shard, of_id);
        PERFORM renewald.stays_heard(renewald.shard_of(by_user), of_id);
    END IF;
    SELECT known.claimed_by_others AND known.user_id <> by_user INTO is_shared
        FROM renewald.purchase AS known WHERE known.shard = of_shard AND known.id = of_id;
    IF is_shared THEN
        SELECT claimant.copy_id INTO own_id FROM renewald.claimant
            WHERE claimant.shard = of_shard AND claimant.id = of_id AND claimant.user_id = by_user;
        UPDATE renewald.purchase AS known SET baseline = false, version = known.version + 1
            WHERE known.shard = renewald.shard_of(by_user) AND known.id = own_id AND known.baseline;
        IF FOUND THEN
            PERFORM renewald.stays_heard(renewald.shard_of(by_user), own_id);
        END IF;
    END IF;
END $$;

-- As before, and keeps what is named with a claim.
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
    is_found boolean;
    is_other boolean;
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
            UPDATE renewald.claimant SET store_user_id = ''
                WHERE claimant.shard = renewald.shard_of(by_user) AND claimant.id = of_id
                    AND claimant.user_id = owner AND new_store_user_id IS NOT NULL;
            RETURN true;
        END IF;
        SELECT known.environment IS NOT NULL, new_store_user_id <> asked.store_user_id
            INTO is_found, is_other
            FROM renewald.purchase AS known
            JOIN renewald.credential AS asked ON asked.shard = known.shard AND asked.id = known.id
            WHERE known.shard = of_shard AND known.id = of_id
            FOR NO KEY UPDATE OF known;
        IF is_other THEN
            -- It belongs to one Amazon user: whoever names another one takes no claim's place.
            INSERT INTO renewald.claimant (shard, id, user_id, product, store_user_id)
                VALUES (of_shard, of_id, by_user, new_product, new_store_user_id)
                ON CONFLICT (shard, id, user_id)
                DO UPDATE SET product = excluded.product, store_user_id = excluded.store_user_id
                WHERE claimant.copy_id IS NULL AND claimant.store_user_id <> excluded.store_user_id
                    AND NOT is_found;
            IF FOUND AND NOT is_found THEN
                UPDATE renewald.purchase AS known
                    SET claimed_by_others = true, version = known.version + 1
                    WHERE known.shard = of_shard AND known.id = of_id AND known.user_id = owner;
                IF NOT FOUND THEN
                    RETURN false;
                END IF;
                PERFORM renewald.touch(of_shard, of_lane, of_id);
                PERFORM renewald.stays_heard(of_shard, of_id);
                PERFORM renewald.wake(of_shard, of_lane, of_id, '0 s');
            END IF;
            RETURN true;
        END IF;
        IF latest IS DISTINCT FROM by_user THEN
            UPDATE renewald.purchase AS known
                SET claimed_by_others = true, claimed_by = by_user, version = known.version + 1
                WHERE known.shard = of_shard AND known.id = of_id AND known.user_id = owner;
            IF NOT FOUND THEN
                RETURN false;
            END IF;
            -- In the order in which commits lock: the place, then what was heard.
            PERFORM renewald.touch(of_shard, of_lane, of_id);
            PERFORM renewald.stays_heard(of_shard, of_id);
            INSERT INTO renewald.claimant (shard, id, user_id, product, store_user_id)
                VALUES (of_shard, of_id, by_user, new_product, new_store_user_id)
                ON CONFLICT (shard, id, user_id)
                DO UPDATE SET claimed_at = excluded.claimed_at, copy_id = NULL,
                    product = coalesce(excluded.product, claimant.product),
                    store_user_id = coalesce(excluded.store_user_id, claimant.store_user_id);
            PERFORM renewald.wake(of_shard, of_lane, of_id, '0 s');
            RETURN true;
        END IF;
        UPDATE renewald.claimant
            SET product = coalesce(new_product, claimant.product),
                store_user_id = coalesce(new_store_user_id, claimant.store_user_id)
            WHERE claimant.shard = of_shard AND claimant.id = of_id AND claimant.user_id = by_user
                AND (new_product <> coalesce(claimant.product, '')
                    OR new_store_user_id <> coalesce(claimant.store_user_id, ''));
    ELSIF owner = by_user THEN
        IF latest IS NOT NULL THEN
            -- The last to claim it is the one who has it.
            UPDATE renewald.purchase AS known
                SET claimed_by = NULL, version = known.version + 1
                WHERE known.shard = of_shard AND known.id = of_id AND known.user_id = by_user;
            IF NOT FOUND THEN
                RETURN false;
            END IF;
            PERFORM renewald.touch(of_shard, of_lane, of_id);
            PERFORM renewald.stays_heard(of_shard, of_id);
        END IF;
        IF renewald.correct(of_lane, of_shard, of_id, by_user, new_product, new_store_user_id) THEN
            PERFORM renewald.touch(of_shard, of_lane, of_id);
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
