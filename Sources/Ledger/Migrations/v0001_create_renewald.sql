-- The schema of renewald: tables of the ledger, and the public contract over them (functions,
-- views, roles). shard = hash of the user id: all rows of a user are in one shard.

CREATE FUNCTION renewald.shard_of(user_id text) RETURNS int2
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$ SELECT get_byte(decode(md5(user_id), 'hex'), 0)::int2 $$;
COMMENT ON FUNCTION renewald.shard_of(text) IS 'The shard of a user: 0 to 255, for ever.';

-- One app in one store. The lane is its own queue in the schedule.
CREATE TABLE renewald.app (
    lane int2 GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    store text NOT NULL CHECK (store IN ('apple', 'google', 'amazon')),
    app text NOT NULL CHECK (app <> ''),
    UNIQUE (store, app)
);

-- The lease of each shard. A worker owns it until lease_until, by this database's clock; the epoch
-- rises with each owner and fences every commit. in_hand names the purchases being asked about: after
-- a crash they are the suspects.
CREATE TABLE renewald.shard (
    shard int2 PRIMARY KEY,
    owner uuid,
    epoch int8 NOT NULL DEFAULT 0,
    lease_until timestamptz NOT NULL DEFAULT 'epoch',
    clean boolean NOT NULL DEFAULT true,
    in_hand int8[] NOT NULL DEFAULT '{}'
) WITH (fillfactor = 10);
INSERT INTO renewald.shard (shard) SELECT number FROM generate_series(0, 255) AS number;

-- Who is at work: shards are divided by the number of workers seen.
CREATE TABLE renewald.worker (
    id uuid PRIMARY KEY,
    name text NOT NULL,
    started_at timestamptz NOT NULL DEFAULT now(),
    seen_until timestamptz NOT NULL
);

-- One row a user. Its version is compared and raised by each commit that changes the user's union.
CREATE TABLE renewald.account (
    shard int2 NOT NULL,
    user_id text NOT NULL CHECK (user_id <> ''),
    version int8 NOT NULL DEFAULT 0,
    PRIMARY KEY (shard, user_id)
) WITH (fillfactor = 80);

-- What is known of each purchase. No index on a column that a check changes.
CREATE SEQUENCE renewald.purchase_id AS int8;
CREATE TABLE renewald.purchase (
    shard int2 NOT NULL,
    id int8 NOT NULL,
    lane int2 NOT NULL,
    user_id text NOT NULL,
    product text NOT NULL CHECK (product <> ''),
    created_at timestamptz NOT NULL DEFAULT now(),
    claimed_by_others boolean NOT NULL DEFAULT false,
    -- The other user who has submitted it last, until a check has settled whose it is.
    claimed_by text,
    version int8 NOT NULL DEFAULT 0,
    environment text CHECK (environment IN ('production', 'sandbox')),
    kind text CHECK (kind IN ('auto_renewable', 'non_renewing', 'non_consumable', 'consumable')),
    state text NOT NULL DEFAULT 'new' CHECK (state IN (
        'new', 'pending', 'active', 'grace', 'hold', 'paused', 'expired', 'refunded', 'revoked',
        'superseded', 'invalid')),
    access text NOT NULL DEFAULT 'none' CHECK (access IN ('granted', 'none', 'held')),
    paid_through timestamptz CHECK (isfinite(paid_through)),
    expires_at timestamptz CHECK (isfinite(expires_at)),
    auto_renew boolean,
    order_id text,
    original_id text,
    period text,
    phase text CHECK (phase IN ('trial', 'introductory', 'regular')),
    subscription_group text,
    used_introductory boolean,
    stated_at timestamptz,
    lapse text,
    signals text[] NOT NULL DEFAULT '{}',
    doubt text,
    doubt_since timestamptz,
    -- What it gives now, three arrays side by side; an end is microseconds since 1970, null for ever.
    holding_entitlements text[] NOT NULL DEFAULT '{}',
    holding_products text[] NOT NULL DEFAULT '{}',
    holding_ends int8[] NOT NULL DEFAULT '{}',
    PRIMARY KEY (shard, id),
    CHECK ((doubt IS NULL) = (doubt_since IS NULL)),
    CHECK (access <> 'none' OR cardinality(holding_entitlements) = 0),
    CHECK (cardinality(holding_entitlements) = cardinality(holding_products)
        AND cardinality(holding_entitlements) = cardinality(holding_ends))
) WITH (fillfactor = 85);
CREATE INDEX purchase_user ON renewald.purchase (user_id);

-- What a store is asked with. Apart from the purchase, and seldom written: token is what was
-- submitted, asked_with what the store has named since.
CREATE TABLE renewald.credential (
    shard int2 NOT NULL,
    id int8 NOT NULL,
    token text NOT NULL CHECK (token <> ''),
    store_user_id text,
    asked_with text CHECK (asked_with <> ''),
    PRIMARY KEY (shard, id)
);

-- One token is one purchase, whoever submits it: unique over all users.
CREATE TABLE renewald.token_key (
    lane int2 NOT NULL,
    digest bytea NOT NULL CHECK (octet_length(digest) = 32),
    shard int2 NOT NULL,
    id int8 NOT NULL,
    PRIMARY KEY (lane, digest)
);

-- One original id is one purchase, in whatever form it was submitted: unique over all users of an
-- app. Apple's only; elsewhere the token itself is the identity.
CREATE TABLE renewald.original_key (
    lane int2 NOT NULL,
    original_id text NOT NULL,
    shard int2 NOT NULL,
    id int8 NOT NULL,
    PRIMARY KEY (lane, original_id)
);
CREATE INDEX original_key_id ON renewald.original_key (id);

-- Other users who have submitted a token. Where sharing is allowed each gets a purchase of his own:
-- copy_id names it, in his shard. It is the same id, unless that is taken there.
CREATE TABLE renewald.claimant (
    shard int2 NOT NULL,
    id int8 NOT NULL,
    user_id text NOT NULL,
    claimed_at timestamptz NOT NULL DEFAULT now(),
    copy_id int8,
    PRIMARY KEY (shard, id, user_id)
);

-- When each purchase is asked about next: one row each, and one index that is the primary key.
-- A check that finds nothing new writes only here.
CREATE TABLE renewald.schedule (
    shard int2 NOT NULL,
    lane int2 NOT NULL,
    due_at timestamptz NOT NULL CHECK (isfinite(due_at)),
    id int8 NOT NULL,
    attempts int2 NOT NULL DEFAULT 0,
    crashes int2 NOT NULL DEFAULT 0,
    checked_at timestamptz,
    problem text,
    PRIMARY KEY (shard, lane, due_at, id)
) WITH (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.05);

-- The union: what a user holds or held.
CREATE TABLE renewald.entitlement (
    shard int2 NOT NULL,
    user_id text NOT NULL,
    entitlement text NOT NULL,
    active boolean NOT NULL,
    expires_at timestamptz,
    will_renew boolean,
    in_grace boolean NOT NULL,
    reason text NOT NULL,
    store text NOT NULL,
    product text NOT NULL,
    purchase_id int8 NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (shard, user_id, entitlement)
) WITH (fillfactor = 85);
CREATE INDEX entitlement_user ON renewald.entitlement (user_id);

-- What was told. The counter's row stays locked until the commit, so ids rise in the order of the
-- commits and a reader that goes on from an id never misses one.
CREATE TABLE renewald.event_counter (
    single boolean PRIMARY KEY DEFAULT true CHECK (single),
    last_id int8 NOT NULL
) WITH (fillfactor = 10);
INSERT INTO renewald.event_counter (last_id) VALUES (0);
CREATE TABLE renewald.event (
    shard int2 NOT NULL,
    key uuid NOT NULL,
    id int8 NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    kind text NOT NULL CHECK (kind IN ('grant', 'revoke', 'notice')),
    reason text NOT NULL,
    user_id text NOT NULL,
    entitlement text,
    purchase_id int8 NOT NULL,
    purchase_version int8 NOT NULL,
    store text NOT NULL,
    app text NOT NULL,
    environment text,
    product text NOT NULL,
    order_id text,
    effective_at timestamptz NOT NULL,
    expires_at timestamptz,
    detail jsonb NOT NULL DEFAULT '{}',
    PRIMARY KEY (shard, key),
    CHECK ((kind = 'notice') = (entitlement IS NULL))
);
CREATE INDEX event_id ON renewald.event (id);
CREATE INDEX event_user ON renewald.event (user_id, id);

-- A key made from the content alone (UUID version 8): the same event has the same key, also when it
-- is decided again after a restore.
CREATE FUNCTION renewald.event_key(VARIADIC content text[]) RETURNS uuid
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
        SELECT encode(set_byte(set_byte(digest, 6, get_byte(digest, 6) & 15 | 128),
            8, get_byte(digest, 8) & 63 | 128), 'hex')::uuid
        FROM (SELECT substring(sha256(convert_to(content::text, 'UTF8')) FROM 1 FOR 16)) AS d (digest)
    $$;

-- What a user may be offered in each group of subscriptions.
CREATE TABLE renewald.offer (
    shard int2 NOT NULL,
    user_id text NOT NULL,
    store text NOT NULL,
    app text NOT NULL,
    subscription_group text NOT NULL,
    introductory_eligible boolean NOT NULL,
    promotional_eligible boolean NOT NULL,
    reason text NOT NULL,
    as_of timestamptz NOT NULL,
    PRIMARY KEY (shard, user_id, store, app, subscription_group)
);

-- The share of a store's quota that all workers draw from: the time at which the next call may start.
CREATE TABLE renewald.bucket (
    bucket text PRIMARY KEY,
    free_at timestamptz NOT NULL DEFAULT 'epoch',
    blocked_until timestamptz NOT NULL DEFAULT 'epoch'
) WITH (fillfactor = 10);

-- Where each source of hints is read on, and who reads it.
CREATE TABLE renewald.hint_source (
    source text PRIMARY KEY,
    position text,
    owner uuid,
    lease_until timestamptz NOT NULL DEFAULT 'epoch',
    pull_at timestamptz NOT NULL DEFAULT 'epoch',
    pulled_at timestamptz,
    failures int4 NOT NULL DEFAULT 0,
    problem text
) WITH (fillfactor = 10);

-- Hints that were taken in: the same again is no news. Kept for a month.
CREATE TABLE renewald.heard_hint (
    source text NOT NULL,
    digest bytea NOT NULL CHECK (octet_length(digest) = 32),
    heard_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (source, digest)
);
CREATE INDEX heard_hint_age ON renewald.heard_hint (heard_at);

-- Hints about what nobody has submitted yet, by a digest of the token or original id. Kept for a
-- month: a later submission is checked at once anyhow, and takes its own off the list.
CREATE TABLE renewald.unclaimed_hint (
    lane int2 NOT NULL,
    digest bytea NOT NULL CHECK (octet_length(digest) = 32),
    heard_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (lane, digest)
);
CREATE INDEX unclaimed_hint_age ON renewald.unclaimed_hint (heard_at);

-- What hints have named that an answer does not show (`refund ORDER`, `pause ID`), of each purchase: looked
-- into by its next check, then remembered for half a year, so that the same is no news any more.
CREATE TABLE renewald.clue (
    shard int2 NOT NULL,
    id int8 NOT NULL,
    clue text NOT NULL,
    heard_at timestamptz NOT NULL DEFAULT now(),
    settled_at timestamptz,
    PRIMARY KEY (shard, id, clue)
);
CREATE INDEX clue_age ON renewald.clue (heard_at);

-- What was heard in the checks that mattered, and what was decided by it: for those who have to explain
-- it. A table a month, so that what is too old goes at once and leaves no bloat. Calls are arrays side
-- by side. Bodies are kept only where the configuration says so.
CREATE TABLE renewald.evidence (
    at timestamptz NOT NULL DEFAULT now(),
    shard int2 NOT NULL,
    purchase_id int8 NOT NULL,
    user_id text NOT NULL,
    kind text NOT NULL CHECK (kind IN ('verdict', 'doubt', 'failure')),
    heard text NOT NULL,
    rule text NOT NULL,
    call_names text[] NOT NULL,
    call_statuses int4[] NOT NULL,
    call_bytes int4[] NOT NULL,
    call_digests text[] NOT NULL,
    call_bodies text[],
    state_before text NOT NULL,
    state text NOT NULL,
    access_before text NOT NULL,
    access text NOT NULL,
    product text NOT NULL,
    order_id text,
    original_id text,
    period text,
    paid_through timestamptz,
    expires_at timestamptz,
    problem text,
    next_check_at timestamptz
) PARTITION BY RANGE (at);
CREATE INDEX evidence_purchase ON renewald.evidence (purchase_id, at);
CREATE INDEX evidence_order ON renewald.evidence (order_id) WHERE order_id IS NOT NULL;
CREATE INDEX evidence_original ON renewald.evidence (original_id) WHERE original_id IS NOT NULL;
CREATE INDEX evidence_period ON renewald.evidence (period) WHERE period IS NOT NULL;
-- What no month takes in: no commit ever fails for want of one.
CREATE TABLE renewald.evidence_rest PARTITION OF renewald.evidence DEFAULT;

-- Makes the months to come, and drops those that ended longer ago than the limit. Gives the number of
-- dropped ones. Runs as the owner of the schema. A month waits for no commit for longer than a second:
-- what does not succeed now does so the next time.
CREATE FUNCTION renewald.rotate_evidence(keep interval) RETURNS int
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
        CONTINUE WHEN EXISTS (SELECT FROM renewald.evidence_rest AS rest
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

-- The public contract ----------------------------------------------------------------------------

CREATE FUNCTION renewald.submit(
    user_id text, store text, app text, product text, token text, store_user_id text DEFAULT NULL)
    RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
#variable_conflict use_variable
DECLARE
    kept_token text := btrim(token, E' \t\r\n');
    kept_lane int2;
    kept_digest bytea;
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
    -- Again where another moves the purchase to another user meanwhile.
    FOR round IN 1..20 LOOP
        SELECT known.shard, known.id INTO kept_shard, kept_id
            FROM renewald.token_key AS known
            WHERE known.lane = kept_lane AND known.digest = kept_digest;
        IF kept_id IS NOT NULL THEN
            IF renewald.submit_again(kept_lane, kept_shard, kept_id, user_id) THEN
                RETURN kept_id;
            END IF;
            CONTINUE;
        END IF;
        kept_shard := renewald.shard_of(user_id);
        INSERT INTO renewald.token_key (lane, digest, shard, id)
            VALUES (kept_lane, kept_digest, kept_shard, nextval('renewald.purchase_id'))
            ON CONFLICT DO NOTHING RETURNING id INTO kept_id;
        IF kept_id IS NOT NULL THEN
            INSERT INTO renewald.account (shard, user_id) VALUES (kept_shard, user_id)
                ON CONFLICT DO NOTHING;
            INSERT INTO renewald.purchase (shard, id, lane, user_id, product)
                VALUES (kept_shard, kept_id, kept_lane, user_id, product);
            INSERT INTO renewald.credential (shard, id, token, store_user_id)
                VALUES (kept_shard, kept_id, kept_token, store_user_id);
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
COMMENT ON FUNCTION renewald.submit(text, text, text, text, text, text) IS
    'Stores a receipt or token and has it checked at once. The same token again gives the same id.';

-- A known token was submitted again. It is asked about where that can change anything: another user
-- claims it, or it gives no access; then not more than once in ten seconds. False when the purchase is
-- not there any more: it has just been moved to another shard.
CREATE FUNCTION renewald.submit_again(of_lane int2, of_shard int2, of_id int8, by_user text)
    RETURNS boolean LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    owner text;
    latest text;
    has_access boolean;
    twin_of text;
    own_id int8;
    first_shard int2;
    first_id int8;
BEGIN
    SELECT known.user_id, known.claimed_by, known.access <> 'none',
            CASE WHEN known.state = 'superseded' THEN known.original_id END
        INTO owner, latest, has_access, twin_of
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
    IF owner = by_user AND latest IS NOT NULL THEN
        -- The last to claim it is the one who has it.
        UPDATE renewald.purchase AS known
            SET claimed_by = NULL, version = known.version + 1
            WHERE known.shard = of_shard AND known.id = of_id AND known.user_id = by_user;
        IF NOT FOUND THEN
            RETURN false;
        END IF;
    ELSIF owner <> by_user THEN
        SELECT known.copy_id INTO own_id FROM renewald.claimant AS known
            WHERE known.shard = of_shard AND known.id = of_id AND known.user_id = by_user;
        IF own_id IS NOT NULL THEN
            IF EXISTS (SELECT FROM renewald.purchase AS known
                WHERE known.shard = renewald.shard_of(by_user) AND known.id = own_id
                    AND known.access = 'none')
            THEN
                PERFORM renewald.wake(renewald.shard_of(by_user), of_lane, own_id,
                    now() - interval '10 seconds');
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
            INSERT INTO renewald.claimant (shard, id, user_id) VALUES (of_shard, of_id, by_user)
                ON CONFLICT (shard, id, user_id) DO UPDATE SET claimed_at = now();
            PERFORM renewald.wake(of_shard, of_lane, of_id, now());
            RETURN true;
        END IF;
    END IF;
    IF NOT has_access THEN
        PERFORM renewald.wake(of_shard, of_lane, of_id, now() - interval '10 seconds');
    END IF;
    RETURN true;
END $$;

CREATE FUNCTION renewald.require_text(name text, value text, limit_bytes int) RETURNS void
    LANGUAGE plpgsql IMMUTABLE
    AS $$
BEGIN
    IF value IS NULL OR btrim(value, E' \t\r\n') = '' THEN
        RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
            MESSAGE = format('renewald.submit: %s is empty', name);
    END IF;
    IF octet_length(value) > limit_bytes THEN
        RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
            MESSAGE = format('renewald.submit: %s has %s bytes, more than the %s allowed',
                name, octet_length(value), limit_bytes);
    END IF;
END $$;

-- Makes a purchase due now, if it was last checked before the given time.
CREATE FUNCTION renewald.wake(of_shard int2, of_lane int2, of_id int8, unless_checked_since timestamptz)
    RETURNS boolean LANGUAGE plpgsql
    AS $$
BEGIN
    UPDATE renewald.schedule AS kept
        SET due_at = now(), attempts = 0, crashes = 0
        WHERE kept.shard = of_shard AND kept.lane = of_lane AND kept.id = of_id AND kept.due_at > now()
            AND (kept.checked_at IS NULL OR kept.checked_at <= unless_checked_since);
    IF FOUND THEN
        PERFORM pg_notify('renewald_due', of_lane::text);
    END IF;
    RETURN FOUND;
END $$;

CREATE FUNCTION renewald.has(user_id text, entitlement text) RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        SELECT coalesce((
            SELECT held.active FROM renewald.entitlement AS held
            WHERE held.shard = renewald.shard_of($1) AND held.user_id = $1 AND held.entitlement = $2),
            false)
    $$;
COMMENT ON FUNCTION renewald.has(text, text) IS 'Whether the user holds the entitlement now.';

CREATE VIEW renewald.entitlements AS
    SELECT user_id, entitlement, active, expires_at, will_renew, in_grace, reason, store, product,
        purchase_id, updated_at
    FROM renewald.entitlement;

CREATE VIEW renewald.events AS
    SELECT id, key, created_at, kind, reason, user_id, entitlement, purchase_id, store, app,
        environment, product, order_id, effective_at, expires_at, detail
    FROM renewald.event;

CREATE VIEW renewald.purchases AS
    SELECT purchase.id, purchase.user_id, app.store, app.app, purchase.environment, purchase.product,
        purchase.kind, purchase.state, purchase.access, purchase.paid_through, purchase.expires_at,
        purchase.auto_renew, purchase.order_id, purchase.original_id, schedule.checked_at,
        CASE WHEN schedule.due_at < '9999-12-31 00:00+00' THEN schedule.due_at END AS next_check_at,
        schedule.problem, purchase.created_at
    FROM renewald.purchase
    JOIN renewald.app USING (lane)
    LEFT JOIN renewald.schedule USING (shard, lane, id);

CREATE VIEW renewald.offers AS
    SELECT user_id, store, app, subscription_group, introductory_eligible, promotional_eligible, reason,
        as_of
    FROM renewald.offer;

CREATE FUNCTION renewald.events_after(cursor bigint, max_rows int DEFAULT 1000)
    RETURNS SETOF renewald.events
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        SELECT * FROM renewald.events AS event
        WHERE event.id > coalesce($1, 0) ORDER BY event.id LIMIT least(greatest($2, 0), 100000)
    $$;
COMMENT ON FUNCTION renewald.events_after(bigint, int) IS
    'The events after an id, in the order of their commits; none is ever skipped.';

-- Roles: neither owns the schema. They are of the whole cluster, so another database may have them.
DO $$
DECLARE
    role text;
BEGIN
    FOREACH role IN ARRAY ARRAY['renewald_app', 'renewald_worker'] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role) THEN
            BEGIN
                EXECUTE format('CREATE ROLE %I NOLOGIN', role);
            EXCEPTION
                WHEN duplicate_object OR unique_violation THEN NULL;
                WHEN insufficient_privilege THEN
                    RAISE EXCEPTION USING ERRCODE = 'insufficient_privilege',
                        MESSAGE = format('the role %1$s is missing and may not be created by this user '
                            '(a superuser may: CREATE ROLE %1$s NOLOGIN)', role);
            END;
        END IF;
    END LOOP;
END $$;

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA renewald FROM PUBLIC;
GRANT USAGE ON SCHEMA renewald TO renewald_app, renewald_worker;
GRANT EXECUTE ON FUNCTION renewald.submit(text, text, text, text, text, text),
    renewald.has(text, text), renewald.events_after(bigint, int) TO renewald_app, renewald_worker;
GRANT SELECT ON renewald.entitlements, renewald.events, renewald.purchases, renewald.offers
    TO renewald_app, renewald_worker;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA renewald TO renewald_worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA renewald TO renewald_worker;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA renewald TO renewald_worker;

SELECT renewald.rotate_evidence(interval '400 days');
