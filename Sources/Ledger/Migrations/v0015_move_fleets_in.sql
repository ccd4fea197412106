-- A fleet moves in: many purchases in one call, files that go on after a kill, a back-fill behind all that is due.

ALTER TABLE renewald.purchase
    -- It was in force, or over, before renewald knew it: its first sight is stored and not told.
    ADD COLUMN baseline boolean NOT NULL DEFAULT false;

-- What was imported and not asked about yet waits in the schedule behind everything that has a time: it is due 7,000
-- years after its import, so that the oldest comes first. Here is a row an app: how many were put there since nothing
-- waited last.
CREATE TABLE renewald.backfill (
    lane int4 PRIMARY KEY,
    total int8 NOT NULL CHECK (total > 0),
    started_at timestamptz NOT NULL DEFAULT now()
);

-- How far each file was imported, by its SHA-256. Written in the transaction that takes a batch in.
CREATE TABLE renewald.import (
    digest bytea PRIMARY KEY CHECK (octet_length(digest) = 32),
    -- How it is read: a file is not gone on with in another way.
    reading text NOT NULL,
    -- The place of the next line: its byte and its number.
    place int8 NOT NULL DEFAULT 0,
    line int8 NOT NULL DEFAULT 1,
    submitted int8 NOT NULL DEFAULT 0,
    known int8 NOT NULL DEFAULT 0,
    bad int8 NOT NULL DEFAULT 0,
    -- Bytes of the file of bad lines.
    rejected int8 NOT NULL DEFAULT 0,
    started_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now()
);

GRANT SELECT, INSERT, UPDATE, DELETE ON renewald.backfill, renewald.import TO renewald_worker;

-- What is wrong with a submission, in words that name no value but a store; null when nothing is. Only what is
-- immutable itself, as format() is not: so that PostgreSQL puts the text in the place of the call, ten times as fast.
CREATE FUNCTION renewald.text_fault(name text, value text, limit_bytes int) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
        SELECT CASE
            WHEN value IS NULL OR btrim(value, E' \t\r\n') = '' THEN name || ' is empty'
            WHEN octet_length(value) > limit_bytes
            THEN name || ' has ' || octet_length(value)::text || ' bytes, more than the '
                || limit_bytes::text || ' allowed'
        END
    $$;
CREATE FUNCTION renewald.submission_fault(
    user_id text, store text, app text, product text, token text, store_user_id text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
        SELECT coalesce(
            CASE
                WHEN store IS NULL OR store NOT IN ('apple', 'google', 'amazon')
                THEN 'unknown store ' || quote_nullable(left(store, 40))
            END,
            renewald.text_fault('user_id', user_id, 1024),
            renewald.text_fault('app', app, 512),
            renewald.text_fault('product', product, 512),
            renewald.text_fault('token', btrim(token, E' \t\r\n'), 4194304),
            CASE
                WHEN store = 'amazon' OR store_user_id IS NOT NULL
                THEN renewald.text_fault('store_user_id', store_user_id, 1024)
            END)
    $$;

-- As before, but that one who submits what was imported and not asked about yet waits for an answer: it is told.
CREATE OR REPLACE FUNCTION renewald.submit(
    user_id text, store text, app text, product text, token text, store_user_id text DEFAULT NULL)
    RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
#variable_conflict use_variable
DECLARE
    fault text;
    kept_token text := btrim(token, E' \t\r\n');
    kept_lane int4;
    kept_digest bytea;
    kept_name text := '';
    kept_shard int2;
    kept_id int8;
    heard_clues text[];
    heard_account text;
BEGIN
    fault := renewald.submission_fault(user_id, store, app, product, token, store_user_id);
    IF fault IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
            MESSAGE = 'renewald.submit: ' || fault,
            HINT = CASE WHEN fault LIKE 'unknown store %' THEN 'The store is apple, google or amazon.'
                ELSE '' END;
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
                PERFORM renewald.tell_from_now_on(kept_shard, kept_id, user_id);
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
DROP FUNCTION renewald.require_text(text, text, int);

-- Of a purchase that was imported as it stood, and of the user's own copy of it, the first sight is told after all.
CREATE FUNCTION renewald.tell_from_now_on(of_shard int2, of_id int8, by_user text) RETURNS void
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    is_shared boolean;
BEGIN
    UPDATE renewald.purchase AS known SET baseline = false, version = known.version + 1
        WHERE known.shard = of_shard AND known.id = of_id AND known.baseline;
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

-- submit of many at once, in arrays side by side. n counts from 1; where error is not null, nothing was stored.
-- Imported ones wait behind all that is due, are not told of at first sight if they are the baseline, and change
-- nothing of what their user has submitted or imported already.
CREATE FUNCTION renewald.take_in(
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
    waiting_until timestamptz;
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
        DELETE FROM renewald.backfill AS counted
            WHERE counted.lane = ANY (lanes) AND NOT EXISTS (
                SELECT FROM renewald.shard AS held CROSS JOIN LATERAL (
                    SELECT FROM renewald.schedule
                    WHERE schedule.shard = held.shard AND schedule.lane = counted.lane
                        AND schedule.due_at >= '9000-01-01 00:00+00'
                        AND schedule.due_at < '9999-12-31 00:00+00'
                    LIMIT 1) AS waiting);
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
        SELECT added.shard, added.lane,
            CASE WHEN take_in.imported THEN now() + interval '7000 years' ELSE now() END, added.id
        FROM added
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
        SELECT given.n, given.lane, given.digest, given.name, given.user_id, given.product,
            given.store_user_id, key.id, imported AND CASE
                WHEN owned.user_id = given.user_id
                THEN given.product = coalesce(asked.product, owned.product) AND coalesce(
                    given.store_user_id = asked.store_user_id, given.store_user_id IS NULL)
                ELSE meant.user_id = given.user_id OR EXISTS (
                    SELECT FROM renewald.claimant
                    WHERE claimant.shard = coalesce(meant.shard, key.shard)
                        AND claimant.id = coalesce(meant.id, key.id)
                        AND claimant.user_id = given.user_id)
            END AS is_settled
        FROM unnest(lanes, digests, names, take_in.user_ids, take_in.products, take_in.store_user_ids,
                ids)
            WITH ORDINALITY
            AS given (lane, digest, name, user_id, product, store_user_id, id, n)
        LEFT JOIN renewald.token_key AS key
            ON key.lane = given.lane AND key.digest = given.digest AND key.product = given.name
        LEFT JOIN renewald.purchase AS owned ON owned.shard = key.shard AND owned.id = key.id
        LEFT JOIN renewald.credential AS asked ON asked.shard = key.shard AND asked.id = key.id
        -- The same purchase in another form.
        LEFT JOIN renewald.original_key AS original
            ON owned.state = 'superseded' AND original.lane = given.lane
            AND original.original_id = owned.original_id AND original.id <> owned.id
        LEFT JOIN renewald.purchase AS meant
            ON meant.shard = original.shard AND meant.id = original.id
        WHERE given.digest IS NOT NULL AND given.id IS NULL
        -- In the order of the keys here too: each is locked.
        ORDER BY given.lane, given.digest, given.name, given.n
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

CREATE FUNCTION renewald.submit_many(purchases jsonb) RETURNS TABLE (n int, id bigint, error text)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
#variable_conflict use_column
DECLARE
    shapes text[];
    user_ids text[];
    stores text[];
    apps text[];
    products text[];
    tokens text[];
    store_user_ids text[];
BEGIN
    IF purchases IS NULL OR jsonb_typeof(purchases) <> 'array' THEN
        RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
            MESSAGE = 'renewald.submit_many: the argument is no array',
            HINT = 'It is a JSON array of objects with the names of renewald.submit.';
    END IF;
    IF jsonb_array_length(purchases) > 10000 THEN
        RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
            MESSAGE = format('renewald.submit_many: %s purchases, more than the 10000 allowed',
                jsonb_array_length(purchases)),
            HINT = 'Call it for each ten thousand, or use renewald import.';
    END IF;
    SELECT array_agg(shape.fault ORDER BY given.n),
            array_agg(given.one ->> 'user_id' ORDER BY given.n),
            -- What has a wrong shape is refused as such.
            array_agg(CASE WHEN shape.fault IS NULL THEN given.one ->> 'store' END ORDER BY given.n),
            array_agg(given.one ->> 'app' ORDER BY given.n),
            array_agg(given.one ->> 'product' ORDER BY given.n),
            array_agg(given.one ->> 'token' ORDER BY given.n),
            array_agg(given.one ->> 'store_user_id' ORDER BY given.n)
        INTO shapes, user_ids, stores, apps, products, tokens, store_user_ids
        FROM jsonb_array_elements(purchases) WITH ORDINALITY AS given (one, n)
        CROSS JOIN LATERAL (
            SELECT CASE
                WHEN jsonb_typeof(given.one) <> 'object' THEN 'it is no object'
                ELSE (
                    SELECT min(name) || ' is no text'
                    FROM unnest(ARRAY['user_id', 'store', 'app', 'product', 'token', 'store_user_id'])
                        AS name
                    WHERE jsonb_typeof(given.one -> name) NOT IN ('string', 'null')
                        -- As for submit, a user id may be a number.
                        AND NOT (name = 'user_id' AND jsonb_typeof(given.one -> name) = 'number'))
            END
        ) AS shape (fault);
    RETURN QUERY SELECT taken.n, taken.id, coalesce(shapes[taken.n], taken.error)
        FROM renewald.take_in(user_ids, stores, apps, products, tokens, store_user_ids, false, false)
            AS taken
        ORDER BY taken.n;
END $$;
COMMENT ON FUNCTION renewald.submit_many(jsonb) IS
    'submit for an array of at most 10,000 objects with its names: an id or an error for each.';

CREATE OR REPLACE VIEW renewald.purchases AS
    SELECT purchase.id, purchase.user_id, app.store, app.app, purchase.environment, purchase.product,
        purchase.kind, purchase.state, purchase.access, purchase.paid_through, purchase.expires_at,
        purchase.auto_renew, purchase.order_id, purchase.original_id, schedule.checked_at,
        CASE
            -- What was imported and waits has no time.
            WHEN app.configured IS NOT false AND schedule.due_at < '9000-01-01 00:00+00'
            THEN schedule.due_at
        END AS next_check_at,
        CASE
            WHEN app.configured IS NOT false THEN schedule.problem
            ELSE 'unsupported: this app is not configured'
        END AS problem, purchase.created_at,
        purchase.account_token, purchase.ownership, purchase.commitment_ends_at,
        CASE
            WHEN purchase.access = 'none' THEN purchase.lapse
            -- Of access that was given before its reason was kept, the union knows the reason.
            ELSE coalesce(
                purchase.gain,
                (
                    SELECT min(entitlement.reason)
                    FROM renewald.entitlement
                    WHERE entitlement.shard = purchase.shard
                      AND entitlement.user_id = purchase.user_id
                      AND entitlement.purchase_id = purchase.id AND entitlement.active
                ))
        END AS access_reason
    FROM renewald.purchase
    JOIN renewald.app USING (lane)
    LEFT JOIN renewald.schedule USING (shard, lane, id);

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA renewald FROM PUBLIC;
GRANT EXECUTE ON FUNCTION renewald.submit_many(jsonb) TO renewald_app, renewald_worker;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA renewald TO renewald_worker;
