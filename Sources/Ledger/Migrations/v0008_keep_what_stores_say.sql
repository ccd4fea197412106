-- News that nobody handles, by its source and the store's own name of its type: recorded before it is acknowledged.
-- Types beyond a number share the name `other`, which the program gives.
CREATE TABLE renewald.unhandled_type (
    source text NOT NULL CHECK (source IN ('apple', 'pubsub', 'sqs')),
    type text NOT NULL CHECK (type <> ''),
    -- Whether it is known to be of no use: then it is no reason to look for a newer program.
    expected boolean NOT NULL,
    count int8 NOT NULL CHECK (count > 0),
    first_seen_at timestamptz NOT NULL DEFAULT now(),
    last_seen_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (source, type)
);

CREATE VIEW renewald.unhandled_news AS
    SELECT source, type, count, first_seen_at, last_seen_at FROM renewald.unhandled_type;
COMMENT ON VIEW renewald.unhandled_news IS 'Notifications that nobody handles, by source and type.';

GRANT SELECT, INSERT, UPDATE, DELETE ON renewald.unhandled_type TO renewald_worker;
GRANT SELECT ON renewald.unhandled_news TO renewald_app, renewald_worker;

-- A hint about what nobody has submitted yet is kept with all that it said.
ALTER TABLE renewald.unclaimed_hint
    -- Null where it named a token, which is a secret.
    ADD COLUMN original_id text,
    ADD COLUMN clues text[] NOT NULL DEFAULT '{}',
    ADD COLUMN account_token text CHECK (account_token <> '');

-- As before, but that what was heard of the purchase before goes with it, so that its first check looks into it.
CREATE OR REPLACE FUNCTION renewald.submit(
    user_id text, store text, app text, product text, token text, store_user_id text DEFAULT NULL)
    RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
#variable_conflict use_variable
DECLARE
    kept_token text := btrim(token, E' \t\r\n');
    kept_lane int4;
    kept_digest bytea;
    kept_name text := '';
    kept_shard int2;
    kept_id int8;
    heard_clues text[];
    heard_account text;
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
                WHERE hint.lane = kept_lane AND hint.digest = kept_digest
                RETURNING hint.clues, hint.account_token INTO heard_clues, heard_account;
            IF FOUND THEN
                INSERT INTO renewald.clue (shard, id, clue)
                    SELECT kept_shard, kept_id, heard.clue
                    FROM unnest(heard_clues) AS heard (clue);
                UPDATE renewald.purchase SET account_token = heard_account
                    WHERE shard = kept_shard AND id = kept_id AND heard_account IS NOT NULL;
            END IF;
            PERFORM pg_notify('renewald_due', kept_lane::text);
            RETURN kept_id;
        END IF;
    END LOOP;
    RAISE EXCEPTION USING ERRCODE = 'serialization_failure',
        MESSAGE = 'renewald.submit: the purchase kept moving; try again';
END $$;

-- Gives a purchase what was heard of it before anybody submitted it, and has it asked about again.
CREATE FUNCTION renewald.adopt(
    of_lane int4, of_shard int2, of_id int8, heard_clues text[], heard_account text) RETURNS void
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    INSERT INTO renewald.clue (shard, id, clue)
        SELECT of_shard, of_id, heard.clue FROM unnest(heard_clues) AS heard (clue)
        ON CONFLICT DO NOTHING;
    IF FOUND THEN
        UPDATE renewald.schedule SET due_at = now(), attempts = 0
            WHERE shard = of_shard AND lane = of_lane AND id = of_id AND due_at > now()
                AND coalesce(problem, '') NOT LIKE 'set_aside:%';
    END IF;
    UPDATE renewald.purchase SET account_token = heard_account
        WHERE shard = of_shard AND id = of_id AND account_token IS NULL
            AND heard_account IS NOT NULL;
END $$;
COMMENT ON FUNCTION renewald.adopt(int4, int2, int8, text[], text) IS
    'Gives a purchase what was heard of it before it was submitted.';

REVOKE ALL ON FUNCTION renewald.adopt(int4, int2, int8, text[], text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION renewald.adopt(int4, int2, int8, text[], text) TO renewald_worker;
