-- When its owner has submitted a purchase again while no store had told of it: of two forms of one subscription whoever
-- has submitted either last may have it, and that they are one is known from the first answers on.
ALTER TABLE renewald.credential ADD COLUMN submitted_at timestamptz;
COMMENT ON COLUMN renewald.credential.submitted_at IS
    'When its owner has submitted it again, before any store had told of it; null where that never was.';

-- As before, and notes when its owner submits what no store has told of yet; and takes another Amazon user id for what was
-- found with the former one and is turned down.
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
    is_untold boolean;
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
                known.environment IS NULL,
                CASE WHEN known.state = 'superseded' THEN known.original_id END
            INTO owner, latest, is_fine, is_untold, twin_of
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
        END IF;
        IF is_untold AND EXISTS (
            SELECT FROM renewald.app WHERE app.lane = of_lane AND app.store = 'apple')
        THEN
            -- The place first, as every commit locks: by that it sees that another session holds it.
            PERFORM 1 FROM renewald.schedule AS kept
                WHERE kept.shard = of_shard AND kept.lane = of_lane AND kept.id = of_id
                FOR NO KEY UPDATE;
            UPDATE renewald.credential AS asked SET submitted_at = began
                WHERE asked.shard = of_shard AND asked.id = of_id;
        END IF;
        IF latest IS NOT NULL THEN
            PERFORM renewald.touch(of_shard, of_lane, of_id);
            PERFORM renewald.stays_heard(of_shard, of_id);
        END IF;
        IF renewald.correct(of_lane, of_shard, of_id, by_user, new_product, new_store_user_id) THEN
            PERFORM renewald.touch(of_shard, of_lane, of_id);
            RETURN true;
        END IF;
        -- Found once, and the user turned down by now: Amazon may know them by another id.
        UPDATE renewald.credential AS asked
            SET store_user_id = new_store_user_id
            FROM renewald.schedule AS kept
            WHERE asked.shard = of_shard AND asked.id = of_id
                AND kept.shard = of_shard AND kept.lane = of_lane AND kept.id = of_id
                AND kept.problem LIKE 'rejected:%status 497%'
                AND asked.store_user_id <> new_store_user_id;
        IF FOUND THEN
            PERFORM renewald.touch(of_shard, of_lane, of_id);
            PERFORM renewald.wake(of_shard, of_lane, of_id, '0 s');
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
