-- Who submits a known purchase again changes nothing that a store has said of it: what was heard of it last counts for its
-- new version too.
CREATE FUNCTION renewald.stays_heard(of_shard int2, of_id int8) RETURNS void
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    UPDATE renewald.observation AS kept
        SET version = known.version
        FROM renewald.purchase AS known
        WHERE kept.shard = of_shard AND kept.id = of_id
            AND known.shard = of_shard AND known.id = of_id AND kept.version = known.version - 1;
END $$;
COMMENT ON FUNCTION renewald.stays_heard(int2, int8) IS
    'Lets what was heard of a purchase last count for its new version.';
REVOKE ALL ON FUNCTION renewald.stays_heard(int2, int8) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION renewald.stays_heard(int2, int8) TO renewald_worker;

-- As before, and so for Google's products: its first version refuses a token that another user has submitted as another
-- product, and nobody was asked about as what the second one named.
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
    IF NOT EXISTS (
        SELECT FROM renewald.app WHERE app.lane = of_lane AND app.store IN ('amazon', 'google'))
    THEN
        RETURN false;
    END IF;
    SELECT known.user_id, known.version INTO old_user, old_version
        FROM renewald.purchase AS known
        JOIN renewald.credential AS asked ON asked.shard = known.shard AND asked.id = known.id
        JOIN renewald.schedule AS kept
            ON kept.shard = known.shard AND kept.lane = known.lane AND kept.id = known.id
        WHERE known.shard = of_shard AND known.id = of_id AND known.user_id <> by_user
            -- What the store is asked with, beside the token: Amazon's user id, Google's product.
            AND (new_store_user_id <> asked.store_user_id
                OR asked.store_user_id IS NULL AND new_product <> coalesce(asked.product, known.product))
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
        SET store_user_id = coalesce(new_store_user_id, asked.store_user_id),
            product = coalesce(new_product, asked.product)
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

-- As before, but that what was heard stays so.
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
    PERFORM renewald.stays_heard(of_shard, of_id), renewald.stays_heard(renewald.shard_of(by_user), of_id);
    SELECT known.claimed_by_others AND known.user_id <> by_user INTO is_shared
        FROM renewald.purchase AS known WHERE known.shard = of_shard AND known.id = of_id;
    IF is_shared THEN
        SELECT claimant.copy_id INTO own_id FROM renewald.claimant
            WHERE claimant.shard = of_shard AND claimant.id = of_id AND claimant.user_id = by_user;
        UPDATE renewald.purchase AS known SET baseline = false, version = known.version + 1
            WHERE known.shard = renewald.shard_of(by_user) AND known.id = own_id AND known.baseline;
        PERFORM renewald.stays_heard(renewald.shard_of(by_user), own_id);
    END IF;
END $$;

-- As before, but that what was heard stays so.
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
            PERFORM renewald.stays_heard(of_shard, of_id);
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
            PERFORM renewald.stays_heard(of_shard, of_id);
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
