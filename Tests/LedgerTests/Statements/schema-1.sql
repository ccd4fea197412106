-- The statements of renewald 0.1, which was written for schema 1, as they were released: but for those of
-- `migrate`. They must go on working on each schema that says that it serves programs of version 1.

-- statement apps
SELECT lane, store, app FROM renewald.app ORDER BY lane

-- statement beat_worker
INSERT INTO renewald.worker (id, name, seen_until)
VALUES ($1, $2, now() + $3 * interval '1 microsecond')
ON CONFLICT (id) DO UPDATE SET seen_until = excluded.seen_until

-- statement begin_pull
INSERT INTO renewald.hint_source (source, owner, lease_until)
VALUES ($1, $2, now() + $3 * interval '1 microsecond')
ON CONFLICT (source) DO UPDATE
SET owner = excluded.owner, lease_until = excluded.lease_until
WHERE hint_source.lease_until <= now() AND (hint_source.pull_at <= now() OR $4)
RETURNING position, failures, now() AS now

-- statement block_bucket
INSERT INTO renewald.bucket (bucket, blocked_until)
VALUES ($1, now() + $2 * interval '1 microsecond')
ON CONFLICT (bucket) DO UPDATE
SET blocked_until = greatest(
    CASE WHEN bucket.blocked_until <= now() + interval '65 minutes' THEN bucket.blocked_until END,
    excluded.blocked_until)

-- statement book_accounts
SELECT account.user_id, account.version
FROM unnest($1::int2[], $2::text[]) AS reader (shard, user_id)
JOIN renewald.account ON account.shard = reader.shard AND account.user_id = reader.user_id

-- statement book_entitlements
SELECT
    held.user_id, held.entitlement, held.active, held.expires_at, held.will_renew, held.in_grace,
    held.reason, held.store, held.product, held.purchase_id
FROM unnest($1::int2[], $2::text[]) AS reader (shard, user_id)
JOIN renewald.entitlement AS held ON held.shard = reader.shard AND held.user_id = reader.user_id

-- statement book_offers
SELECT
    offer.user_id, offer.store, offer.app, offer.subscription_group, offer.introductory_eligible,
    offer.promotional_eligible, offer.reason, offer.as_of
FROM unnest($1::int2[], $2::text[]) AS reader (shard, user_id)
JOIN renewald.offer ON offer.shard = reader.shard AND offer.user_id = reader.user_id

-- statement book_purchases
SELECT
    purchase.shard, purchase.lane, purchase.id, purchase.user_id, purchase.product,
    purchase.created_at, purchase.claimed_by_others, purchase.claimed_by, purchase.version,
    purchase.environment, purchase.kind, purchase.state, purchase.access, purchase.paid_through,
    purchase.expires_at, purchase.auto_renew, purchase.order_id, purchase.original_id,
    purchase.period, purchase.phase, purchase.subscription_group, purchase.used_introductory,
    purchase.stated_at, purchase.lapse, purchase.signals,
    purchase.doubt, purchase.doubt_since, purchase.holding_entitlements,
    purchase.holding_products, purchase.holding_ends,
    coalesce(credential.asked_with, credential.token) AS token,
    credential.store_user_id
FROM unnest($1::int2[], $2::text[]) AS reader (shard, user_id)
JOIN renewald.purchase
    ON purchase.shard = reader.shard AND purchase.user_id = reader.user_id
JOIN renewald.credential ON credential.shard = purchase.shard AND credential.id = purchase.id

-- statement claim_due
SELECT
    due.shard, due.lane, due.due_at, due.id, due.attempts, due.crashes, due.checked_at, due.problem,
    now() AS claimed_at, purchase.user_id, purchase.product, purchase.created_at,
    purchase.claimed_by_others, purchase.claimed_by, purchase.version, purchase.environment,
    purchase.kind, purchase.state, purchase.access, purchase.paid_through, purchase.expires_at,
    purchase.auto_renew, purchase.order_id, purchase.original_id, purchase.period,
    purchase.phase, purchase.subscription_group, purchase.used_introductory,
    purchase.stated_at, purchase.lapse, purchase.signals, purchase.doubt,
    purchase.doubt_since, purchase.holding_entitlements, purchase.holding_products,
    purchase.holding_ends, coalesce(credential.asked_with, credential.token) AS token,
    credential.store_user_id,
    ARRAY(
        SELECT clue.clue FROM renewald.clue
        WHERE clue.shard = due.shard AND clue.id = due.id AND clue.settled_at IS NULL
        LIMIT 50) AS clues
FROM unnest($1::int2[], $2::timestamptz[], $3::int8[]) AS place (shard, due_at, id)
CROSS JOIN LATERAL (
    SELECT schedule.*
    FROM renewald.schedule
    WHERE schedule.shard = place.shard
      AND schedule.lane = $4
      AND schedule.due_at <= now()
      AND (schedule.crashes > 0) = $7
      AND (schedule.due_at, schedule.id) > (place.due_at, place.id)
    ORDER BY schedule.due_at, schedule.id
    LIMIT $5
) AS due
JOIN renewald.purchase ON purchase.shard = due.shard AND purchase.id = due.id
JOIN renewald.credential ON credential.shard = due.shard AND credential.id = due.id
LIMIT $6

-- statement commit_accounts
WITH moved AS (
    UPDATE renewald.account
    SET version = account.version + 1
    FROM unnest($1::int2[], $2::text[], $3::int8[]) AS known (shard, user_id, version)
    WHERE account.shard = known.shard
      AND account.user_id = known.user_id
      AND account.version = known.version
    RETURNING 1
)
SELECT count(*) / (count(*) = cardinality($1))::int AS checked FROM moved

-- statement commit_clues
INSERT INTO renewald.clue (shard, id, clue, settled_at)
SELECT settled.shard, settled.id, settled.clue, now()
FROM unnest($1::int2[], $2::int8[], $3::text[]) AS settled (shard, id, clue)
ON CONFLICT (shard, id, clue) DO UPDATE SET settled_at = excluded.settled_at

-- statement commit_copies
WITH claimed AS MATERIALIZED (
    SELECT
        claimant.shard, claimant.id, claimant.user_id,
        renewald.shard_of(claimant.user_id) AS new_shard
    FROM unnest($1::int2[], $2::int8[]) AS shared (shard, id)
    JOIN renewald.claimant ON claimant.shard = shared.shard AND claimant.id = shared.id
    WHERE claimant.copy_id IS NULL
), copy AS MATERIALIZED (
    SELECT
        claimed.*,
        CASE
            WHEN row_number() OVER (PARTITION BY new_shard, id) > 1 OR EXISTS (
                SELECT FROM renewald.purchase AS other
                WHERE other.shard = claimed.new_shard AND other.id = claimed.id)
            THEN nextval('renewald.purchase_id')
            ELSE id
        END AS new_id
    FROM claimed
), opened AS (
    INSERT INTO renewald.account (shard, user_id)
    SELECT DISTINCT new_shard, user_id FROM copy
    ON CONFLICT DO NOTHING
), bought AS (
    INSERT INTO renewald.purchase (
        shard, id, lane, user_id, product, original_id, claimed_by_others)
    SELECT
        copy.new_shard, copy.new_id, original.lane, copy.user_id, original.product,
        original.original_id, true
    FROM copy
    JOIN renewald.purchase AS original USING (shard, id)
), known AS (
    INSERT INTO renewald.credential (shard, id, token, store_user_id, asked_with)
    SELECT copy.new_shard, copy.new_id, original.token, original.store_user_id, original.asked_with
    FROM copy
    JOIN renewald.credential AS original USING (shard, id)
), due AS (
    INSERT INTO renewald.schedule (shard, lane, due_at, id)
    SELECT copy.new_shard, original.lane, now(), copy.new_id
    FROM copy
    JOIN renewald.purchase AS original USING (shard, id)
), noted AS (
    UPDATE renewald.claimant
    SET copy_id = copy.new_id
    FROM copy
    WHERE claimant.shard = copy.shard AND claimant.id = copy.id
      AND claimant.user_id = copy.user_id
), settled AS (
    UPDATE renewald.purchase
    SET claimed_by = NULL
    FROM unnest($1::int2[], $2::int8[]) AS shared (shard, id)
    WHERE purchase.shard = shared.shard AND purchase.id = shared.id
)
SELECT count(*) AS copies FROM copy

-- statement commit_entitlements
INSERT INTO renewald.entitlement (
    shard, user_id, entitlement, active, expires_at, will_renew, in_grace, reason, store,
    product, purchase_id, updated_at)
SELECT held.*, now()
FROM unnest(
    $1::int2[], $2::text[], $3::text[], $4::bool[], $5::timestamptz[], $6::bool[], $7::bool[],
    $8::text[], $9::text[], $10::text[], $11::int8[]
) AS held (
    shard, user_id, entitlement, active, expires_at, will_renew, in_grace, reason, store,
    product, purchase_id)
ON CONFLICT (shard, user_id, entitlement) DO UPDATE
SET active = excluded.active, expires_at = excluded.expires_at,
    will_renew = excluded.will_renew, in_grace = excluded.in_grace, reason = excluded.reason,
    store = excluded.store, product = excluded.product, purchase_id = excluded.purchase_id,
    updated_at = excluded.updated_at

-- statement commit_events (int2[])
WITH counter AS (
    UPDATE renewald.event_counter
    SET last_id = last_id + cardinality($1)
    RETURNING last_id - cardinality($1) AS before
)
INSERT INTO renewald.event (
    shard, key, id, kind, reason, user_id, entitlement, purchase_id, purchase_version, store,
    app, environment, product, order_id, effective_at, expires_at, detail)
SELECT
    told.shard,
    renewald.event_key(
        told.purchase_id::text, told.purchase_version::text, told.kind, told.reason,
        told.user_id, told.entitlement, told.product, coalesce(told.refunded_order, told.order_id),
        extract(epoch FROM told.effective_at)::text, extract(epoch FROM told.expires_at)::text),
    counter.before + told.number, told.kind, told.reason, told.user_id, told.entitlement,
    told.purchase_id, told.purchase_version, told.store, told.app, told.environment,
    told.product, told.order_id, told.effective_at, told.expires_at,
    jsonb_strip_nulls(jsonb_build_object(
        'heard', told.heard, 'false_renewal', told.false_renewal,
        'previous_product', told.previous_product, 'duration_changed', told.duration_changed,
        'refunded_order', told.refunded_order))
FROM counter, unnest(
    $1::int2[], $2::text[], $3::text[], $4::text[], $5::text[], $6::int8[], $7::int8[],
    $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::timestamptz[],
    $14::timestamptz[], $15::text[], $16::bool[], $17::text[], $18::bool[],
    $19::text[]
) WITH ORDINALITY AS told (
    shard, kind, reason, user_id, entitlement, purchase_id, purchase_version, store, app,
    environment, product, order_id, effective_at, expires_at, heard, false_renewal,
    previous_product, duration_changed, refunded_order, number)

-- statement commit_evidence
INSERT INTO renewald.evidence (
    shard, purchase_id, user_id, kind, heard, rule, call_names, call_statuses, call_bytes,
    call_digests, call_bodies, state_before, state, access_before, access, product, order_id,
    original_id, period, paid_through, expires_at, problem, next_check_at)
SELECT
    kept.shard, kept.purchase_id, kept.user_id, kept.kind, kept.heard, kept.rule,
    kept.call_names::text[], kept.call_statuses::int4[], kept.call_bytes::int4[],
    kept.call_digests::text[], kept.call_bodies::text[], kept.state_before, kept.state,
    kept.access_before, kept.access, kept.product, kept.order_id, kept.original_id, kept.period,
    kept.paid_through, kept.expires_at, kept.problem, kept.next_check_at
FROM unnest(
    $1::int2[], $2::int8[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[],
    $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[],
    $15::text[], $16::text[], $17::text[], $18::text[], $19::text[], $20::timestamptz[],
    $21::timestamptz[], $22::text[], $23::timestamptz[]
) AS kept (
    shard, purchase_id, user_id, kind, heard, rule, call_names, call_statuses, call_bytes,
    call_digests, call_bodies, state_before, state, access_before, access, product, order_id,
    original_id, period, paid_through, expires_at, problem, next_check_at)

-- statement commit_fence
WITH owned AS (
    SELECT 1
    FROM renewald.shard
    JOIN unnest($2::int2[], $3::int8[]) AS held (shard, epoch) ON shard.shard = held.shard
    WHERE shard.epoch = held.epoch
      AND shard.owner = $1
      AND shard.lease_until > now()
    ORDER BY shard.shard
    FOR NO KEY UPDATE OF shard
)
SELECT count(*) / (count(*) = cardinality($2))::int AS checked FROM owned

-- statement commit_moves
WITH handed AS MATERIALIZED (
    SELECT
        hand.*, purchase.user_id AS old_user,
        sha256(convert_to(credential.token, 'UTF8')) AS digest
    FROM unnest($1::int2[], $2::int2[], $3::timestamptz[], $4::int8[], $5::int2[], $6::text[])
        AS hand (shard, lane, due_at, id, new_shard, new_user)
    JOIN renewald.purchase ON purchase.shard = hand.shard AND purchase.id = hand.id
    JOIN renewald.credential ON credential.shard = hand.shard AND credential.id = hand.id
), moved AS (
    UPDATE renewald.purchase
    SET shard = new_shard, user_id = new_user, claimed_by = NULL
    FROM handed
    WHERE purchase.shard = handed.shard AND purchase.id = handed.id
    RETURNING 1
), credential_moved AS (
    UPDATE renewald.credential
    SET shard = new_shard
    FROM handed
    WHERE credential.shard = handed.shard AND credential.id = handed.id
), clues_taken AS (
    DELETE FROM renewald.clue
    USING handed
    WHERE clue.shard = handed.shard AND clue.id = handed.id AND handed.new_shard <> handed.shard
    RETURNING handed.new_shard, clue.id, clue.clue, clue.heard_at, clue.settled_at
), clues_given AS (
    INSERT INTO renewald.clue (shard, id, clue, heard_at, settled_at)
    SELECT new_shard, id, clue, heard_at, settled_at FROM clues_taken
    ON CONFLICT DO NOTHING
), schedule_moved AS (
    UPDATE renewald.schedule
    SET shard = new_shard
    FROM handed
    WHERE schedule.shard = handed.shard AND schedule.lane = handed.lane
      AND schedule.due_at = handed.due_at AND schedule.id = handed.id
    RETURNING 1
), token_moved AS (
    UPDATE renewald.token_key
    SET shard = new_shard
    FROM handed
    WHERE token_key.lane = handed.lane AND token_key.digest = handed.digest
), original_moved AS (
    UPDATE renewald.original_key
    SET shard = new_shard
    FROM handed
    WHERE original_key.id = handed.id AND original_key.shard = handed.shard
), claims_moved AS (
    UPDATE renewald.claimant
    SET shard = new_shard,
        user_id = CASE
            WHEN claimant.user_id = handed.new_user THEN handed.old_user
            ELSE claimant.user_id
        END
    FROM handed
    WHERE claimant.shard = handed.shard AND claimant.id = handed.id
)
SELECT count(*) / (count(*) = cardinality($1) AND count(*) = (SELECT count(*) FROM schedule_moved))::int
    AS checked
FROM moved

-- statement commit_newcomers
INSERT INTO renewald.account (shard, user_id)
SELECT * FROM unnest($1::int2[], $2::text[])
ON CONFLICT DO NOTHING

-- statement commit_notify
SELECT pg_notify('renewald_events', '')::text AS notified

-- statement commit_offers
INSERT INTO renewald.offer (
    shard, user_id, store, app, subscription_group, introductory_eligible, promotional_eligible,
    reason, as_of)
SELECT offered.*
FROM unnest(
    $1::int2[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bool[], $7::bool[],
    $8::text[], $9::timestamptz[]
) AS offered
ON CONFLICT (shard, user_id, store, app, subscription_group) DO UPDATE
SET introductory_eligible = excluded.introductory_eligible,
    promotional_eligible = excluded.promotional_eligible, reason = excluded.reason,
    as_of = excluded.as_of

-- statement commit_original_keys
WITH taken AS (
    INSERT INTO renewald.original_key (lane, original_id, shard, id)
    SELECT * FROM unnest($1::int2[], $2::text[], $3::int2[], $4::int8[])
    ON CONFLICT DO NOTHING
    RETURNING 1
)
SELECT count(*) / (count(*) = cardinality($1))::int AS checked FROM taken

-- statement commit_pull
WITH held AS (
    UPDATE renewald.hint_source
    SET position = coalesce($3, hint_source.position), pulled_at = now(),
        lease_until = now() + $4 * interval '1 microsecond'
    WHERE source = $1
      AND owner = $2
      AND lease_until > now()
    RETURNING 1
)
SELECT 1 / (count(*) = 1)::int AS checked FROM held

-- statement commit_purchases
WITH moved AS (
    UPDATE renewald.purchase
    SET version = purchase.version + 1, product = fact.product, environment = fact.environment,
        kind = fact.kind, state = fact.state, access = fact.access,
        paid_through = fact.paid_through, expires_at = fact.expires_at,
        auto_renew = fact.auto_renew, order_id = fact.order_id, original_id = fact.original_id,
        period = fact.period, phase = fact.phase, stated_at = fact.stated_at,
        lapse = fact.lapse, signals = fact.signals::text[], doubt = fact.doubt,
        doubt_since = fact.doubt_since, subscription_group = fact.subscription_group,
        used_introductory = fact.used_introductory,
        holding_entitlements = fact.holding_entitlements::text[],
        holding_products = fact.holding_products::text[],
        holding_ends = fact.holding_ends::int8[]
    FROM unnest(
        $1::int2[], $2::int8[], $3::int8[], $4::text[], $5::text[], $6::text[], $7::text[],
        $8::text[], $9::timestamptz[], $10::timestamptz[], $11::bool[], $12::text[],
        $13::text[], $14::text[], $15::text[], $16::timestamptz[], $17::text[], $18::text[],
        $19::text[], $20::timestamptz[], $21::text[], $22::text[], $23::text[], $24::text[],
        $25::bool[]
    ) AS fact (
        shard, id, version, product, environment, kind, state, access, paid_through, expires_at,
        auto_renew, order_id, original_id, period, phase, stated_at, lapse, signals, doubt,
        doubt_since, holding_entitlements, holding_products, holding_ends, subscription_group,
        used_introductory
    )
    WHERE purchase.shard = fact.shard
      AND purchase.id = fact.id
      AND purchase.version = fact.version
    RETURNING 1
)
SELECT count(*) / (count(*) = cardinality($1))::int AS checked FROM moved

-- statement commit_schedule
WITH moved AS (
    UPDATE renewald.schedule
    SET due_at = next.due_at, attempts = next.attempts, crashes = 0, problem = next.problem,
        checked_at = CASE WHEN next.heard THEN now() ELSE schedule.checked_at END
    FROM unnest(
        $1::int2[], $2::int2[], $3::int8[], $4::timestamptz[], $5::timestamptz[], $6::int2[],
        $7::bool[], $8::text[]
    ) AS next (shard, lane, id, claimed_due_at, due_at, attempts, heard, problem)
    WHERE schedule.shard = next.shard
      AND schedule.lane = next.lane
      AND schedule.due_at = next.claimed_due_at
      AND schedule.id = next.id
    RETURNING 1
)
SELECT count(*) / (count(*) = cardinality($1))::int AS checked FROM moved

-- statement commit_tokens
WITH renamed AS (
    UPDATE renewald.credential
    SET asked_with = named.token
    FROM unnest($1::int2[], $2::int8[], $3::text[]) AS named (shard, id, token)
    WHERE credential.shard = named.shard
      AND credential.id = named.id
    RETURNING 1
)
SELECT count(*) / (count(*) = cardinality($1))::int AS checked FROM renamed

-- statement commit_twins
SELECT count(*) / (count(*) = cardinality($1))::int AS checked
FROM unnest($1::int2[], $2::int2[], $3::int8[], $4::text[]) AS first (lane, shard, id, user_id)
WHERE renewald.submit_again(first.lane, first.shard, first.id, first.user_id)

-- statement count_workers
SELECT count(*) AS workers FROM renewald.worker WHERE seen_until > now()

-- statement doctor_events
SELECT * FROM renewald.events AS event WHERE event.id > $1 ORDER BY event.id LIMIT $2

-- statement doctor_has
SELECT held.active
FROM renewald.entitlement AS held
WHERE held.shard = renewald.shard_of($1) AND held.user_id = $1 AND held.entitlement = $2

-- statement doctor_holders
SELECT holder.kind, holder.name, holder.pid, holder.since, holder.age, now() AS now
FROM (
    SELECT
        true AS is_active, CASE WHEN backend_type = 'walsender' THEN 'standby' ELSE 'transaction' END AS kind,
        coalesce(application_name, '') AS name, pid, xact_start AS since,
        greatest(age(backend_xmin), age(backend_xid)) AS age
    FROM pg_stat_activity
    WHERE pid <> pg_backend_pid()
      AND (backend_xmin IS NOT NULL OR backend_xid IS NOT NULL)
      AND (datid IS NULL OR datname = current_database())
      AND backend_type IS DISTINCT FROM 'autovacuum worker'
    UNION ALL
    SELECT true, 'prepared', gid, NULL, prepared, age(transaction)
    FROM pg_prepared_xacts
    WHERE database = current_database()
    UNION ALL
    SELECT active, 'slot', slot_name::text, active_pid, NULL, greatest(age(xmin), age(catalog_xmin))
    FROM pg_replication_slots
    WHERE xmin IS NOT NULL OR catalog_xmin IS NOT NULL
) AS holder
WHERE CASE WHEN holder.since IS NOT NULL
    THEN holder.since <= now() - $1 * interval '1 microsecond'
    ELSE NOT holder.is_active OR holder.age >= $2 END
ORDER BY holder.age DESC NULLS LAST, holder.since
LIMIT 20

-- statement doctor_indexes
SELECT
    needed.name, 'renewald.' || needed.definition AS definition, index.oid IS NOT NULL AS is_there,
    coalesce((
        SELECT relkind = 'p' FROM pg_class
        WHERE oid = to_regclass('renewald.' || split_part(needed.definition, ' ', 1))
    ), false) AS is_partitioned
FROM (VALUES
    ('account_pkey', 'account (shard, user_id)'),
    ('app_pkey', 'app (lane)'),
    ('app_store_app_key', 'app (store, app)'),
    ('bucket_pkey', 'bucket (bucket)'),
    ('claimant_pkey', 'claimant (shard, id, user_id)'),
    ('clue_age', 'clue (heard_at)'),
    ('clue_pkey', 'clue (shard, id, clue)'),
    ('credential_pkey', 'credential (shard, id)'),
    ('entitlement_pkey', 'entitlement (shard, user_id, entitlement)'),
    ('entitlement_user', 'entitlement (user_id)'),
    ('event_counter_pkey', 'event_counter (single)'),
    ('event_id', 'event (id)'),
    ('event_pkey', 'event (shard, key)'),
    ('event_user', 'event (user_id, id)'),
    ('evidence_order', 'evidence (order_id) WHERE order_id IS NOT NULL'),
    ('evidence_original', 'evidence (original_id) WHERE original_id IS NOT NULL'),
    ('evidence_period', 'evidence (period) WHERE period IS NOT NULL'),
    ('evidence_purchase', 'evidence (purchase_id, at)'),
    ('heard_hint_age', 'heard_hint (heard_at)'),
    ('heard_hint_pkey', 'heard_hint (source, digest)'),
    ('hint_source_pkey', 'hint_source (source)'),
    ('migration_pkey', 'migration (version)'),
    ('offer_pkey', 'offer (shard, user_id, store, app, subscription_group)'),
    ('original_key_id', 'original_key (id)'),
    ('original_key_pkey', 'original_key (lane, original_id)'),
    ('purchase_pkey', 'purchase (shard, id)'),
    ('purchase_user', 'purchase (user_id)'),
    ('schedule_pkey', 'schedule (shard, lane, due_at, id)'),
    ('shard_pkey', 'shard (shard)'),
    ('token_key_pkey', 'token_key (lane, digest)'),
    ('unclaimed_hint_age', 'unclaimed_hint (heard_at)'),
    ('unclaimed_hint_pkey', 'unclaimed_hint (lane, digest)'),
    ('worker_pkey', 'worker (id)')
) AS needed (name, definition)
LEFT JOIN pg_class AS index
    ON index.relname = needed.name AND index.relnamespace = 'renewald'::regnamespace
LEFT JOIN pg_index ON pg_index.indexrelid = index.oid
WHERE pg_index.indisvalid IS NOT TRUE OR pg_index.indisready IS NOT TRUE
ORDER BY needed.name

-- statement doctor_plan_settings
SELECT
    set_config('transaction_read_only', 'on', true) AS read_only,
    set_config('enable_seqscan', 'off', true) AS seqscan

-- statement doctor_rights
SELECT
    current_user::text AS user_name,
    (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) AS is_superuser,
    coalesce((
        SELECT pg_has_role(nspowner, 'USAGE') FROM pg_namespace WHERE nspname = 'renewald'
    ), false) AS owns_schema,
    ARRAY(
        SELECT role FROM unnest(ARRAY['renewald_app', 'renewald_worker']) AS role
        WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role)
    ) AS missing_roles,
    ARRAY(
        SELECT lacking.name FROM (
            SELECT 'USAGE on the schema' AS name
            WHERE NOT has_schema_privilege('renewald', 'USAGE')
            UNION ALL
            SELECT privilege || ' on ' || relname
            FROM pg_class, unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS privilege
            WHERE relnamespace = 'renewald'::regnamespace AND relkind IN ('r', 'p')
              AND NOT relispartition
              AND NOT has_table_privilege(pg_class.oid, privilege)
            UNION ALL
            SELECT 'USAGE on ' || relname
            FROM pg_class
            WHERE relnamespace = 'renewald'::regnamespace AND relkind = 'S'
              AND relname = 'purchase_id'
              AND NOT CASE WHEN relkind = 'S' THEN has_sequence_privilege(oid, 'USAGE') END
            UNION ALL
            SELECT 'EXECUTE on ' || proname
            FROM pg_proc
            WHERE pronamespace = 'renewald'::regnamespace
              AND NOT has_function_privilege(oid, 'EXECUTE')
        ) AS lacking
        ORDER BY 1
    ) AS missing_rights

-- statement doctor_server
SELECT
    current_setting('server_version') AS version,
    current_setting('server_version_num')::int4 AS version_number,
    pg_is_in_recovery() AS in_recovery,
    pg_backend_pid() AS pid,
    clock_timestamp() AS now,
    pg_has_role('pg_read_all_stats', 'USAGE') AS sees_all_sessions,
    current_setting('fsync')::bool AS fsync,
    current_setting('full_page_writes')::bool AS full_page_writes,
    (SELECT reset_val FROM pg_settings WHERE name = 'synchronous_commit') AS synchronous_commit,
    (SELECT reset_val FROM pg_settings WHERE name = 'default_transaction_isolation') AS isolation,
    current_setting('autovacuum')::bool AND current_setting('track_counts')::bool AS autovacuum,
    current_setting('max_connections')::int4
        - current_setting('superuser_reserved_connections')::int4 AS connections,
    (
        SELECT count(*) FROM pg_stat_activity
        WHERE datid IS NOT NULL AND backend_type IS DISTINCT FROM 'autovacuum worker'
    ) AS connected

-- statement doctor_tables
SELECT
    stat.relname::text AS name, stat.n_live_tup AS live, stat.n_dead_tup AS dead,
    greatest(stat.last_autovacuum, stat.last_vacuum) AS vacuumed_at, now() AS now,
    coalesce('autovacuum_enabled=false' = ANY (class.reloptions), false) AS is_exempt
FROM pg_stat_user_tables AS stat
JOIN pg_class AS class ON class.oid = stat.relid
WHERE stat.schemaname = 'renewald'
  AND stat.relname IN (
    'schedule', 'purchase', 'entitlement', 'event', 'account', 'shard', 'bucket', 'event_counter')
ORDER BY stat.relname <> 'schedule', stat.relname

-- statement drop_offers
DELETE FROM renewald.offer
USING unnest($1::int2[], $2::text[], $3::text[], $4::text[], $5::text[])
    AS gone (shard, user_id, store, app, subscription_group)
WHERE offer.shard = gone.shard
  AND offer.user_id = gone.user_id
  AND offer.store = gone.store
  AND offer.app = gone.app
  AND offer.subscription_group = gone.subscription_group

-- statement end_pull
UPDATE renewald.hint_source
SET owner = NULL, lease_until = 'epoch', pull_at = now() + $3 * interval '1 microsecond',
    failures = $4, problem = $5
WHERE source = $1
  AND owner = $2

-- statement events_after
SELECT * FROM renewald.events_after($1, $2)

-- statement find_original_keys
SELECT known.lane, known.original_id, known.shard, known.id
FROM unnest($1::int2[], $2::text[]) AS wanted (lane, original_id)
JOIN renewald.original_key AS known
    ON known.lane = wanted.lane AND known.original_id = wanted.original_id

-- statement last_event
SELECT last_id FROM renewald.event_counter

-- statement leave_worker
DELETE FROM renewald.worker WHERE id = $1 OR seen_until < now() - interval '1 day'

-- statement locked_claims
SELECT claim.shard, claim.id, place.free IS TRUE AS is_movable
FROM unnest($1::int2[], $2::int2[], $3::int8[], $4::timestamptz[], $5::text[])
    AS claim (shard, lane, id, due_at, user_id)
LEFT JOIN LATERAL (
    SELECT true AS free
    FROM renewald.purchase AS kept
    WHERE kept.shard = claim.shard AND kept.id = claim.id
    FOR NO KEY UPDATE SKIP LOCKED
) AS purchase ON true
LEFT JOIN LATERAL (
    SELECT true AS free
    FROM renewald.account AS kept
    WHERE kept.shard = claim.shard AND kept.user_id = claim.user_id
    FOR NO KEY UPDATE SKIP LOCKED
) AS account ON true
LEFT JOIN LATERAL (
    SELECT true AS free
    FROM renewald.schedule AS kept
    WHERE kept.shard = claim.shard AND kept.lane = claim.lane AND kept.due_at = claim.due_at
      AND kept.id = claim.id
    FOR NO KEY UPDATE SKIP LOCKED
) AS place ON true
WHERE (purchase.free AND account.free AND place.free) IS NOT TRUE

-- statement mark_in_hand
UPDATE renewald.shard
SET in_hand = held.ids::int8[]
FROM unnest($2::int2[], $3::int8[], $4::text[]) AS held (shard, epoch, ids)
WHERE shard.shard = held.shard
  AND shard.epoch = held.epoch
  AND shard.owner = $1
  AND shard.lease_until > now()
RETURNING shard.shard

-- statement marks
SELECT schedule.shard, schedule.id, purchase.version
FROM unnest($1::int2[], $2::int2[], $3::int8[], $4::timestamptz[]) AS known (shard, lane, id, due_at)
JOIN renewald.schedule
    ON schedule.shard = known.shard AND schedule.lane = known.lane
    AND schedule.due_at = known.due_at AND schedule.id = known.id
JOIN renewald.purchase ON purchase.shard = known.shard AND purchase.id = known.id

-- statement notify_due
SELECT max(pg_notify('renewald_due', app.lane::text)::text) AS notified
FROM renewald.app
WHERE app.store = $1 AND app.app = $2

-- statement now
SELECT now() AS now

-- statement owned_shards
SELECT shard.shard
FROM renewald.shard
JOIN unnest($2::int2[], $3::int8[]) AS held (shard, epoch) ON shard.shard = held.shard
WHERE shard.epoch = held.epoch
  AND shard.owner = $1
  AND shard.lease_until > now()

-- statement prune_clues
DELETE FROM renewald.clue
WHERE heard_at < now() - interval '30 days'
  AND (settled_at IS NULL OR heard_at < now() - interval '180 days')

-- statement prune_heard_hints
DELETE FROM renewald.heard_hint WHERE heard_at < now() - interval '30 days'

-- statement prune_unclaimed_hints
DELETE FROM renewald.unclaimed_hint
WHERE heard_at < now() - interval '30 days'
   OR heard_at <= (
       SELECT kept.heard_at FROM renewald.unclaimed_hint AS kept
       ORDER BY kept.heard_at DESC OFFSET $1 LIMIT 1)

-- statement pull_wait
SELECT coalesce(max(
    (extract(epoch FROM greatest(pull_at, lease_until) - now()) * 1000000)::int8), 0)
        AS wait_microseconds
FROM renewald.hint_source
WHERE source = $1

-- statement purchase_evidence
SELECT * FROM (
    SELECT
        kept.at, kept.purchase_id, kept.user_id, kept.kind, kept.heard, kept.rule,
        kept.call_names, kept.call_statuses, kept.call_bytes, kept.call_digests,
        coalesce(kept.call_bodies, '{}') AS call_bodies, kept.state_before, kept.state, kept.access_before, kept.access,
        kept.product, kept.order_id, kept.paid_through, kept.expires_at, kept.problem,
        kept.next_check_at
    FROM renewald.evidence AS kept
    WHERE kept.purchase_id = ANY ($1)
    ORDER BY kept.at DESC
    LIMIT $2
) AS newest
ORDER BY newest.at

-- statement queue_depth
SELECT
    app.store, app.app, sum(queue.due)::int8 AS due, min(queue.oldest_due_at) AS oldest_due_at,
    now() AS now
FROM renewald.app
CROSS JOIN renewald.shard
CROSS JOIN LATERAL (
    SELECT count(*) AS due, min(first.due_at) AS oldest_due_at
    FROM (
        SELECT schedule.due_at
        FROM renewald.schedule
        WHERE schedule.shard = shard.shard
          AND schedule.lane = app.lane
          AND schedule.due_at <= now()
        ORDER BY schedule.due_at
        LIMIT 10000
    ) AS first
) AS queue
GROUP BY app.store, app.app
ORDER BY app.store, app.app

-- statement register_app
INSERT INTO renewald.app (store, app) VALUES ($1, $2) ON CONFLICT DO NOTHING

-- statement release_shards
UPDATE renewald.shard
SET owner = NULL, lease_until = 'epoch', clean = true, in_hand = '{}'
FROM unnest($2::int2[], $3::int8[]) AS held (shard, epoch)
WHERE shard.shard = held.shard
  AND shard.epoch = held.epoch
  AND shard.owner = $1

-- statement renew_shards
UPDATE renewald.shard
SET lease_until = now() + $2 * interval '1 microsecond',
    in_hand = CASE WHEN held.idle THEN '{}' ELSE shard.in_hand END
FROM unnest($3::int2[], $4::int8[], $5::bool[]) AS held (shard, epoch, idle)
WHERE shard.shard = held.shard
  AND shard.epoch = held.epoch
  AND shard.owner = $1
RETURNING shard.shard

-- statement reserve_calls
INSERT INTO renewald.bucket (bucket, free_at)
VALUES ($1, now() + $2 * interval '1 microsecond')
ON CONFLICT (bucket) DO UPDATE
SET free_at = greatest(
        CASE
            WHEN bucket.free_at <= greatest(bucket.blocked_until, now())
                + greatest(interval '2 minutes', 100 * $2 * interval '1 microsecond')
            THEN bucket.free_at
        END,
        CASE WHEN bucket.blocked_until <= now() + interval '65 minutes' THEN bucket.blocked_until END,
        now()) + $2 * interval '1 microsecond'
RETURNING
    (extract(epoch FROM free_at - $2 * interval '1 microsecond' - now()) * 1000000)::int8
        AS wait_microseconds

-- statement rotate_evidence
SELECT renewald.rotate_evidence($1 * interval '1 microsecond') AS dropped

-- statement shards_of
SELECT reader.user_id, renewald.shard_of(reader.user_id) AS shard
FROM unnest($1::text[]) AS reader (user_id)

-- statement status_buckets
SELECT
    bucket, now() AS now, free_at,
    greatest(extract(epoch FROM free_at - now()), 0)::float8 AS ahead_seconds,
    CASE WHEN blocked_until > now() THEN blocked_until END AS blocked_until
FROM renewald.bucket
ORDER BY bucket

-- statement status_lag
SELECT
    event.store, event.app, count(*) AS revokes,
    percentile_cont(0.5) WITHIN GROUP (ORDER BY lag.ms) AS p50_ms,
    percentile_cont(0.99) WITHIN GROUP (ORDER BY lag.ms) AS p99_ms
FROM renewald.event
JOIN renewald.purchase ON purchase.shard = event.shard AND purchase.id = event.purchase_id
CROSS JOIN LATERAL (
    SELECT greatest(
        extract(epoch FROM event.created_at - event.effective_at) * 1000, 0)::float8 AS ms
) AS lag
WHERE event.id > (SELECT last_id - 100000 FROM renewald.event_counter)
  AND event.created_at > now() - interval '1 day'
  AND event.kind = 'revoke'
  AND event.reason NOT IN ('invalid', 'unverifiable', 'manual', 'transferred')
  AND event.effective_at >= purchase.created_at
GROUP BY event.store, event.app
ORDER BY event.store, event.app

-- statement status_problems
SELECT app.store, app.app, split_part(schedule.problem, ':', 1) AS code, count(*) AS purchases
FROM renewald.schedule
JOIN renewald.app USING (lane)
WHERE schedule.problem IS NOT NULL
GROUP BY app.store, app.app, code
ORDER BY app.store, app.app, code

-- statement status_queue
SELECT
    app.store, app.app, count(schedule.id) AS purchases,
    count(*) FILTER (WHERE schedule.due_at <= now()) AS due,
    min(schedule.due_at) FILTER (WHERE schedule.due_at <= now()) AS oldest_due_at,
    min(schedule.due_at) FILTER (
        WHERE schedule.due_at > now() AND schedule.due_at < '9999-12-31 00:00+00') AS next_due_at,
    max(schedule.checked_at) AS last_verdict_at,
    count(*) FILTER (WHERE schedule.problem LIKE 'set_aside:%') AS set_aside,
    count(schedule.problem) AS problems, now() AS now
FROM renewald.app
LEFT JOIN renewald.schedule USING (lane)
GROUP BY app.store, app.app
ORDER BY app.store, app.app

-- statement status_sources
SELECT source, pulled_at, failures, problem
FROM renewald.hint_source
ORDER BY source

-- statement status_workers
SELECT worker.name, worker.started_at, count(shard.shard) AS shards
FROM renewald.worker
LEFT JOIN renewald.shard ON shard.owner = worker.id AND shard.lease_until > now()
WHERE worker.seen_until > now()
GROUP BY worker.id, worker.name, worker.started_at
ORDER BY worker.started_at, worker.name

-- statement take_hints
WITH heard AS (
    INSERT INTO renewald.heard_hint (source, digest)
    SELECT DISTINCT $1, sha256(convert_to(hint.id, 'UTF8')) FROM unnest($5::text[]) AS hint (id)
    ON CONFLICT DO NOTHING
    RETURNING digest
), hint AS MATERIALIZED (
    SELECT DISTINCT
        app.lane, given.original_id, given.clue,
        sha256(convert_to(
            btrim(coalesce(given.token, given.original_id), E' \t\r\n'), 'UTF8')) AS digest
    FROM unnest($5::text[], $6::text[], $7::text[], $8::text[])
        AS given (id, token, original_id, clue)
    JOIN heard ON heard.digest = sha256(convert_to(given.id, 'UTF8'))
    JOIN renewald.app ON app.store = $2 AND app.app = $3
), found AS MATERIALIZED (
    SELECT hint.lane, hint.digest, hint.clue, known.shard, known.id
    FROM hint
    JOIN renewald.token_key AS known ON known.lane = hint.lane AND known.digest = hint.digest
    UNION
    SELECT hint.lane, hint.digest, hint.clue, known.shard, known.id
    FROM hint
    JOIN renewald.original_key AS known
        ON known.lane = hint.lane AND known.original_id = hint.original_id
), meant AS MATERIALIZED (
    SELECT
        found.lane, found.clue, coalesce(first.shard, found.shard) AS shard,
        coalesce(first.id, found.id) AS id
    FROM found
    JOIN renewald.purchase ON purchase.shard = found.shard AND purchase.id = found.id
    LEFT JOIN renewald.original_key AS first
        ON purchase.state = 'superseded' AND first.lane = found.lane
        AND first.original_id = purchase.original_id
    UNION
    SELECT found.lane, found.clue, renewald.shard_of(claimant.user_id), claimant.copy_id
    FROM found
    JOIN renewald.claimant ON claimant.shard = found.shard AND claimant.id = found.id
    WHERE claimant.copy_id IS NOT NULL
), noted AS (
    INSERT INTO renewald.clue (shard, id, clue)
    SELECT shard, id, clue FROM meant WHERE clue IS NOT NULL
    ON CONFLICT DO NOTHING
    RETURNING shard, id
), woken AS (
    UPDATE renewald.schedule
    SET due_at = now(), attempts = 0
    FROM meant
    JOIN renewald.purchase ON purchase.shard = meant.shard AND purchase.id = meant.id
    JOIN renewald.shard ON shard.shard = meant.shard
    WHERE schedule.shard = meant.shard
      AND schedule.lane = meant.lane
      AND schedule.id = meant.id
      AND purchase.state <> 'superseded'
      AND (schedule.due_at > now() OR meant.id = ANY (shard.in_hand))
      AND (schedule.checked_at IS NULL OR schedule.checked_at <= $4 OR EXISTS (
          SELECT FROM noted WHERE noted.shard = meant.shard AND noted.id = meant.id))
      AND coalesce(schedule.problem, '') NOT LIKE 'set_aside:%'
    RETURNING 1
), unclaimed AS (
    INSERT INTO renewald.unclaimed_hint (lane, digest)
    SELECT DISTINCT hint.lane, hint.digest
    FROM hint
    WHERE NOT EXISTS (SELECT FROM found WHERE found.digest = hint.digest)
    ON CONFLICT DO NOTHING
    RETURNING 1
)
SELECT
    (SELECT count(*) FROM heard) AS fresh, (SELECT count(*) FROM woken) AS woken,
    (SELECT count(*) FROM unclaimed) AS unclaimed

-- statement take_shards
WITH free AS MATERIALIZED (
    SELECT shard.shard
    FROM renewald.shard
    WHERE shard.lease_until < now()
    ORDER BY shard.lease_until, shard.shard
    LIMIT $3
), locked AS MATERIALIZED (
    SELECT shard.shard, shard.clean, shard.in_hand
    FROM renewald.shard
    JOIN free USING (shard)
    WHERE shard.lease_until < now()
    ORDER BY shard.shard
    FOR NO KEY UPDATE OF shard
), taken AS (
    UPDATE renewald.shard
    SET owner = $1, epoch = shard.epoch + 1,
        lease_until = now() + $2 * interval '1 microsecond', clean = false, in_hand = '{}'
    FROM locked
    WHERE shard.shard = locked.shard
    RETURNING shard.shard, shard.epoch, locked.clean, locked.in_hand
), counted AS (
    UPDATE renewald.schedule
    SET crashes = schedule.crashes + 1,
        due_at = CASE
            WHEN schedule.crashes + 1 >= $4 THEN '9999-12-31 00:00+00'
            ELSE schedule.due_at
        END,
        problem = CASE WHEN schedule.crashes + 1 >= $4 THEN $5 ELSE schedule.problem END
    FROM taken
    WHERE NOT taken.clean
      AND schedule.shard = taken.shard
      AND schedule.id = ANY (taken.in_hand)
      AND schedule.due_at <= now()
)
SELECT shard, epoch, clean, in_hand FROM taken

-- statement user_claims
SELECT
    due.shard, due.lane, due.due_at, due.id, due.attempts, due.crashes, due.checked_at, due.problem,
    now() AS claimed_at, purchase.user_id, purchase.product, purchase.created_at,
    purchase.claimed_by_others, purchase.claimed_by, purchase.version, purchase.environment,
    purchase.kind, purchase.state, purchase.access, purchase.paid_through, purchase.expires_at,
    purchase.auto_renew, purchase.order_id, purchase.original_id, purchase.period,
    purchase.phase, purchase.subscription_group, purchase.used_introductory,
    purchase.stated_at, purchase.lapse, purchase.signals, purchase.doubt,
    purchase.doubt_since, purchase.holding_entitlements, purchase.holding_products,
    purchase.holding_ends, coalesce(credential.asked_with, credential.token) AS token,
    credential.store_user_id,
    ARRAY(
        SELECT clue.clue FROM renewald.clue
        WHERE clue.shard = due.shard AND clue.id = due.id AND clue.settled_at IS NULL
        LIMIT 50) AS clues
FROM renewald.purchase
JOIN renewald.schedule AS due
    ON due.shard = purchase.shard AND due.lane = purchase.lane AND due.id = purchase.id
JOIN renewald.credential ON credential.shard = purchase.shard AND credential.id = purchase.id
WHERE purchase.user_id = $1
  AND purchase.shard = renewald.shard_of($1)
ORDER BY purchase.id

-- statement user_entitlements
SELECT
    held.entitlement, held.active, held.expires_at, held.will_renew, held.in_grace, held.reason,
    held.store, held.product, held.purchase_id
FROM renewald.entitlement AS held
WHERE held.shard = renewald.shard_of($1) AND held.user_id = $1
ORDER BY held.entitlement

-- statement user_events
SELECT
    event.id, event.key::text AS key, event.created_at, event.kind, event.reason, event.user_id,
    event.entitlement, event.purchase_id, event.store, event.app, event.environment,
    event.product, event.order_id, event.effective_at, event.expires_at,
    event.detail::text AS detail
FROM renewald.event
WHERE event.user_id = $1
ORDER BY event.id

-- statement users_of_order
WITH named (shard, id) AS (
    SELECT known.shard, known.id FROM renewald.token_key AS known
    WHERE known.digest = sha256(convert_to($1, 'UTF8'))
        AND known.lane IN (SELECT app.lane FROM renewald.app)
    UNION
    SELECT known.shard, known.id FROM renewald.original_key AS known
    WHERE known.original_id = $1
        AND known.lane IN (SELECT app.lane FROM renewald.app)
), kept (purchase_id) AS (
    SELECT seen.purchase_id FROM renewald.evidence AS seen WHERE seen.order_id = $1
    UNION
    SELECT seen.purchase_id FROM renewald.evidence AS seen WHERE seen.period = $1
    UNION
    SELECT seen.purchase_id FROM renewald.evidence AS seen WHERE seen.original_id = $2
)
SELECT purchase.user_id
FROM named JOIN renewald.purchase ON purchase.shard = named.shard AND purchase.id = named.id
UNION
SELECT latest.user_id
FROM kept CROSS JOIN LATERAL (
    SELECT seen.user_id FROM renewald.evidence AS seen
    WHERE seen.purchase_id = kept.purchase_id ORDER BY seen.at DESC LIMIT 1
) AS latest
ORDER BY user_id

-- statement users_of_order_scan
SELECT DISTINCT purchase.user_id
FROM renewald.purchase
WHERE purchase.original_id = $2 OR purchase.order_id = $1 OR purchase.period = $1
ORDER BY purchase.user_id
