-- Whose a purchase is, and what is handed in again: one purchase a product of an app receipt, corrections
-- by submit, what a store says of the buyer, chains over several users, user ids of other types.

-- Learned from the store: whom the app named at the purchase, and how the user came to have it.
ALTER TABLE renewald.purchase
    ADD COLUMN account_token text CHECK (account_token <> ''),
    ADD COLUMN ownership text CHECK (ownership IN ('purchased', 'family_shared', 'assigned'));

-- By the id that submit has given.
CREATE INDEX purchase_by_id ON renewald.purchase (id);

-- As it was submitted last: the store may name another one since. Null where that was before this was
-- kept. interrupted_at is when a check in hand was last made anew because of a submit.
ALTER TABLE renewald.credential
    ADD COLUMN product text,
    ADD COLUMN interrupted_at timestamptz;

-- Of the purchase that holds it.
ALTER TABLE renewald.entitlement
    ADD COLUMN environment text CHECK (environment IN ('production', 'sandbox'));
UPDATE renewald.entitlement
SET environment = purchase.environment
FROM renewald.purchase
WHERE purchase.shard = entitlement.shard AND purchase.id = entitlement.purchase_id;

-- What a user has claimed, for those who ask about the user.
CREATE INDEX claimant_user ON renewald.claimant (user_id);

-- An app receipt of Apple holds all that a customer has bought in an app. It is base64 of a sequence
-- in ASN.1, or base64 of that again.
CREATE FUNCTION renewald.is_app_receipt(store text, token text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT $1 = 'apple' AND $2 ~ '^(M[A-P]|TU)' AND strpos($2, '.') = 0 $$;

-- One token is one purchase; a token that holds several products is one purchase of each: product is the
-- one that was submitted with it, and empty for all other tokens.
ALTER TABLE renewald.token_key ADD COLUMN product text NOT NULL DEFAULT '';
UPDATE renewald.token_key
SET product = coalesce(purchase.product, '')
FROM renewald.app, renewald.credential, renewald.purchase
WHERE app.store = 'apple' AND token_key.lane = app.lane
  AND credential.shard = token_key.shard AND credential.id = token_key.id
  AND purchase.shard = token_key.shard AND purchase.id = token_key.id
  AND renewald.is_app_receipt('apple', credential.token);
ALTER TABLE renewald.token_key
    DROP CONSTRAINT token_key_pkey,
    ADD PRIMARY KEY (lane, digest, product);

-- The token that a newer link of its chain names as its predecessor, and that link's purchase: handed in
-- late, the predecessor gives nothing, whoever has which of the two.
CREATE TABLE renewald.successor_key (
    lane int2 NOT NULL,
    digest bytea NOT NULL CHECK (octet_length(digest) = 32),
    id int8 NOT NULL,
    PRIMARY KEY (lane, digest)
);

-- An id is one purchase's alone. Where sharing is allowed, copies had the id of the original.
DO $$
DECLARE
    doublet record;
    own_id int8;
BEGIN
    FOR doublet IN
        SELECT twin.shard, twin.id, twin.lane, twin.user_id
        FROM renewald.purchase AS twin
        JOIN (
            SELECT id FROM renewald.purchase GROUP BY id HAVING count(*) > 1
        ) AS doubled USING (id)
        WHERE NOT EXISTS (
            SELECT FROM renewald.token_key AS known
            JOIN renewald.credential AS kept ON kept.shard = twin.shard AND kept.id = twin.id
            WHERE known.lane = twin.lane AND known.id = twin.id AND known.shard = twin.shard
              AND known.digest = sha256(convert_to(kept.token, 'UTF8')))
    LOOP
        own_id := nextval('renewald.purchase_id');
        UPDATE renewald.purchase AS kept SET id = own_id
            WHERE kept.shard = doublet.shard AND kept.id = doublet.id;
        UPDATE renewald.credential AS kept SET id = own_id
            WHERE kept.shard = doublet.shard AND kept.id = doublet.id;
        UPDATE renewald.schedule AS kept SET id = own_id
            WHERE kept.shard = doublet.shard AND kept.lane = doublet.lane AND kept.id = doublet.id;
        UPDATE renewald.clue AS kept SET id = own_id
            WHERE kept.shard = doublet.shard AND kept.id = doublet.id;
        UPDATE renewald.evidence AS kept SET purchase_id = own_id
            WHERE kept.shard = doublet.shard AND kept.purchase_id = doublet.id
              AND kept.user_id = doublet.user_id;
        UPDATE renewald.entitlement AS kept SET purchase_id = own_id
            WHERE kept.shard = doublet.shard AND kept.user_id = doublet.user_id
              AND kept.purchase_id = doublet.id;
        UPDATE renewald.claimant AS kept SET copy_id = own_id
            WHERE kept.user_id = doublet.user_id AND kept.copy_id = doublet.id;
        UPDATE renewald.shard AS kept SET in_hand = array_replace(kept.in_hand, doublet.id, own_id)
            WHERE kept.shard = doublet.shard;
    END LOOP;
END $$;

-- Submitting -------------------------------------------------------------------------------------

CREATE OR REPLACE FUNCTION renewald.submit(
    user_id text, store text, app text, product text, token text, store_user_id text DEFAULT NULL)
    RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
#variable_conflict use_variable
DECLARE
    kept_token text := btrim(token, E' \t\r\n');
    kept_lane int2;
    kept_digest bytea;
    kept_name text := '';
    kept_shard int2;
    kept_id int8;
BEGIN
    IF store IS NULL OR store NOT IN ('apple', 'google', 'amazon') THEN
        RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
            MESSAGE = format('renewald.submit: unknown store %L', left(store, 40)),
            HINT = 'The store is apple, google or amazon.';
    END IF;
    PERFORM renewald.require_text('user_id', user_id, 1024);
    PERFORM renewald.require_text('app', app, 512);
    PERFORM renewald.require_text('product', product, 512);
    PERFORM renewald.require_text('token', kept_token, 4194304);
    IF store = 'amazon' OR store_user_id IS NOT NULL THEN
        PERFORM renewald.require_text('store_user_id', store_user_id, 1024);
    END IF;

    SELECT known.lane INTO kept_lane
        FROM renewald.app AS known WHERE known.store = store AND known.app = app;
    IF kept_lane IS NULL THEN
        INSERT INTO renewald.app (store, app) VALUES (store, app) ON CONFLICT DO NOTHING;
        SELECT known.lane INTO kept_lane
            FROM renewald.app AS known WHERE known.store = store AND known.app = app;
    END IF;

    kept_digest := sha256(convert_to(kept_token, 'UTF8'));
    IF renewald.is_app_receipt(store, kept_token) THEN
        kept_name := product;
    END IF;
    -- Again where another moves the purchase to another user meanwhile.
    FOR round IN 1..20 LOOP
        SELECT known.shard, known.id INTO kept_shard, kept_id
            FROM renewald.token_key AS known
            WHERE known.lane = kept_lane AND known.digest = kept_digest
                AND known.product = kept_name;
        IF kept_id IS NOT NULL THEN
            IF renewald.submit_again(
                kept_lane, kept_shard, kept_id, user_id, product, store_user_id)
            THEN
                RETURN kept_id;
            END IF;
            CONTINUE;
        END IF;
        kept_shard := renewald.shard_of(user_id);
        INSERT INTO renewald.token_key (lane, digest, product, shard, id)
            VALUES (kept_lane, kept_digest, kept_name, kept_shard,
                nextval('renewald.purchase_id'))
            ON CONFLICT DO NOTHING RETURNING id INTO kept_id;
        IF kept_id IS NOT NULL THEN
            INSERT INTO renewald.account (shard, user_id) VALUES (kept_shard, user_id)
                ON CONFLICT DO NOTHING;
            INSERT INTO renewald.purchase (shard, id, lane, user_id, product)
                VALUES (kept_shard, kept_id, kept_lane, user_id, product);
            INSERT INTO renewald.credential (shard, id, token, store_user_id, product)
                VALUES (kept_shard, kept_id, kept_token, store_user_id, product);
            INSERT INTO renewald.schedule (shard, lane, due_at, id)
                VALUES (kept_shard, kept_lane, now(), kept_id);
            DELETE FROM renewald.unclaimed_hint AS hint
                WHERE hint.lane = kept_lane AND hint.digest = kept_digest;
            PERFORM pg_notify('renewald_due', kept_lane::text);
            RETURN kept_id;
        END IF;
    END LOOP;
    RAISE EXCEPTION USING ERRCODE = 'serialization_failure',
        MESSAGE = 'renewald.submit: the purchase kept moving; try again';
END $$;

-- User ids of other types are their text: 17 is '17', a uuid is in lower case with hyphens.
CREATE FUNCTION renewald.submit(
    user_id bigint, store text, app text, product text, token text, store_user_id text DEFAULT NULL)
    RETURNS bigint LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$ SELECT renewald.submit($1::text, $2, $3, $4, $5, $6) $$;
COMMENT ON FUNCTION renewald.submit(bigint, text, text, text, text, text) IS
    'submit for a user id that is a number.';
CREATE FUNCTION renewald.submit(
    user_id uuid, store text, app text, product text, token text, store_user_id text DEFAULT NULL)
    RETURNS bigint LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$ SELECT renewald.submit($1::text, $2, $3, $4, $5, $6) $$;
COMMENT ON FUNCTION renewald.submit(uuid, text, text, text, text, text) IS
    'submit for a user id that is a uuid.';
CREATE FUNCTION renewald.has(user_id bigint, entitlement text) RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$ SELECT renewald.has($1::text, $2) $$;
COMMENT ON FUNCTION renewald.has(bigint, text) IS 'has for a user id that is a number.';
CREATE FUNCTION renewald.has(user_id uuid, entitlement text) RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$ SELECT renewald.has($1::text, $2) $$;
COMMENT ON FUNCTION renewald.has(uuid, text) IS 'has for a user id that is a uuid.';

-- Makes a purchase due as soon as it may be asked about again: rest after its last verdict. One that is
-- being asked about, and not for the first time, is made due anew, because the answer may be older than
-- what was submitted; but not twice in ten seconds, or who submits without end would never be answered.
DROP FUNCTION renewald.submit_again(int2, int2, int8, text);
DROP FUNCTION renewald.wake(int2, int2, int8, timestamptz);
CREATE FUNCTION renewald.wake(of_shard int2, of_lane int2, of_id int8, rest interval) RETURNS boolean
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    next_due timestamptz;
    interrupts boolean;
BEGIN
    UPDATE renewald.credential AS asked
        SET interrupted_at = now()
        FROM renewald.schedule AS kept, renewald.shard AS own
        WHERE asked.shard = of_shard AND asked.id = of_id
            AND coalesce(asked.interrupted_at <= now() - interval '10 seconds', true)
            AND kept.shard = of_shard AND kept.lane = of_lane AND kept.id = of_id
            AND kept.due_at < now() AND (kept.checked_at IS NOT NULL OR kept.attempts > 0)
            AND own.shard = of_shard AND of_id = ANY (own.in_hand);
    interrupts := FOUND;
    UPDATE renewald.schedule AS kept
        SET due_at = greatest(now(), kept.checked_at + rest), attempts = 0, crashes = 0
        WHERE kept.shard = of_shard AND kept.lane = of_lane AND kept.id = of_id
            AND (kept.due_at > greatest(now(), kept.checked_at + rest)
                OR interrupts AND kept.due_at < now())
        RETURNING kept.due_at INTO next_due;
    IF next_due <= now() THEN
        PERFORM pg_notify('renewald_due', of_lane::text);
    END IF;
    RETURN next_due IS NOT NULL;
END $$;

-- What was wrong when it was handed in first, and never has given access, is put right: it is asked about
-- as it is handed in now, at once. True when something was put right.
CREATE FUNCTION renewald.correct(
    of_lane int2, of_shard int2, of_id int8, by_user text, new_product text, new_store_user_id text)
    RETURNS boolean LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    is_other_product boolean;
    is_other_user boolean;
BEGIN
    SELECT new_product <> coalesce(asked.product, known.product),
            coalesce(new_store_user_id IS DISTINCT FROM asked.store_user_id
                AND new_store_user_id IS NOT NULL, false)
        INTO is_other_product, is_other_user
        FROM renewald.purchase AS known
        JOIN renewald.credential AS asked ON asked.shard = known.shard AND asked.id = known.id
        WHERE known.shard = of_shard AND known.id = of_id AND known.user_id = by_user
            AND known.access = 'none' AND known.lapse IS NULL AND known.state <> 'superseded';
    IF NOT FOUND OR NOT (coalesce(is_other_product, false) OR is_other_user) THEN
        RETURN false;
    END IF;
    UPDATE renewald.purchase AS known
        SET product = CASE WHEN is_other_product THEN new_product ELSE known.product END,
            kind = CASE WHEN is_other_product THEN NULL ELSE known.kind END,
            state = CASE WHEN known.state = 'invalid' THEN 'new' ELSE known.state END,
            doubt = NULL, doubt_since = NULL, version = known.version + 1
        WHERE known.shard = of_shard AND known.id = of_id AND known.user_id = by_user
            AND known.access = 'none' AND known.lapse IS NULL AND known.state <> 'superseded';
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    UPDATE renewald.credential AS asked
        SET product = coalesce(new_product, asked.product),
            store_user_id = coalesce(new_store_user_id, asked.store_user_id)
        WHERE asked.shard = of_shard AND asked.id = of_id;
    UPDATE renewald.schedule AS kept
        SET problem = NULL
        WHERE kept.shard = of_shard AND kept.lane = of_lane AND kept.id = of_id;
    PERFORM renewald.wake(of_shard, of_lane, of_id, '0 s');
    RETURN true;
END $$;

-- A known token was submitted again. It is asked about where that can change anything: another user claims
-- it, it is handed in with a correction or as another product, or it is not simply in force; then not more
-- than once in ten seconds. False when the purchase is not there any more: it has just been moved to
-- another shard.
CREATE FUNCTION renewald.submit_again(
    of_lane int2, of_shard int2, of_id int8, by_user text,
    new_product text DEFAULT NULL, new_store_user_id text DEFAULT NULL)
    RETURNS boolean LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    owner text;
    latest text;
    is_fine boolean;
    twin_of text;
    own_id int8;
    first_shard int2;
    first_id int8;
BEGIN
    SELECT known.user_id, known.claimed_by,
            known.access = 'granted' AND known.state = 'active' AND known.doubt IS NULL
                AND coalesce(known.expires_at > now(), true),
            CASE WHEN known.state = 'superseded' THEN known.original_id END
        INTO owner, latest, is_fine, twin_of
        FROM renewald.purchase AS known WHERE known.shard = of_shard AND known.id = of_id;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    IF twin_of IS NOT NULL THEN
        -- The same purchase in another form: the first one is meant.
        SELECT known.shard, known.id INTO first_shard, first_id
            FROM renewald.original_key AS known
            WHERE known.lane = of_lane AND known.original_id = twin_of;
        IF first_id <> of_id THEN
            RETURN renewald.submit_again(of_lane, first_shard, first_id, by_user);
        END IF;
    END IF;
    IF owner <> by_user THEN
        SELECT known.copy_id INTO own_id FROM renewald.claimant AS known
            WHERE known.shard = of_shard AND known.id = of_id AND known.user_id = by_user;
        IF own_id IS NOT NULL THEN
            PERFORM renewald.submit_again(
                of_lane, renewald.shard_of(by_user), own_id, by_user, new_product,
                new_store_user_id);
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
                ON CONFLICT (shard, id, user_id) DO UPDATE SET claimed_at = now();
            PERFORM renewald.wake(of_shard, of_lane, of_id, '0 s');
            RETURN true;
        END IF;
    ELSE
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

-- What others read ----------------------------------------------------------------------------------

CREATE OR REPLACE VIEW renewald.entitlements AS
    SELECT user_id, entitlement, active, expires_at, will_renew, in_grace, reason, store, product,
        purchase_id, updated_at, environment
    FROM renewald.entitlement;

CREATE OR REPLACE VIEW renewald.purchases AS
    SELECT purchase.id, purchase.user_id, app.store, app.app, purchase.environment, purchase.product,
        purchase.kind, purchase.state, purchase.access, purchase.paid_through, purchase.expires_at,
        purchase.auto_renew, purchase.order_id, purchase.original_id, schedule.checked_at,
        CASE WHEN schedule.due_at < '9999-12-31 00:00+00' THEN schedule.due_at END AS next_check_at,
        schedule.problem, purchase.created_at, purchase.account_token, purchase.ownership
    FROM renewald.purchase
    JOIN renewald.app USING (lane)
    LEFT JOIN renewald.schedule USING (shard, lane, id);

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA renewald FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
    renewald.submit(bigint, text, text, text, text, text),
    renewald.submit(uuid, text, text, text, text, text),
    renewald.has(bigint, text), renewald.has(uuid, text) TO renewald_app, renewald_worker;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA renewald TO renewald_worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON renewald.successor_key TO renewald_worker;
