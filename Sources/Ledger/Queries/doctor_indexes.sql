-- The indexes that the statements need and what has become of them. No parameters. One row an index that
-- is missing or cannot be used: its name, its definition, is_there bool, is_partitioned bool (the table).
SELECT
    needed.name, 'renewald.' || needed.definition AS definition, index.oid IS NOT NULL AS is_there,
    coalesce((
        SELECT relkind = 'p' FROM pg_class
        WHERE oid = to_regclass('renewald.' || split_part(needed.definition, ' ', 1))
    ), false) AS is_partitioned
FROM (VALUES
    ('account_pkey', 'account (shard, user_id)'),
    ('app_configured', 'app (lane) WHERE (configured IS NOT FALSE)'),
    ('app_pkey', 'app (lane)'),
    ('app_store_app_key', 'app (store, app)'),
    ('backfill_pkey', 'backfill (lane)'),
    ('breaker_pkey', 'breaker (lane)'),
    ('bucket_pkey', 'bucket (bucket)'),
    ('claimant_pkey', 'claimant (shard, id, user_id)'),
    ('claimant_user', 'claimant (user_id)'),
    ('clue_age', 'clue (heard_at)'),
    ('clue_pkey', 'clue (shard, id, clue)'),
    ('credential_pkey', 'credential (shard, id)'),
    ('data_key_pkey', 'data_key (id)'),
    ('entitlement_pkey', 'entitlement (shard, user_id, entitlement)'),
    ('entitlement_user', 'entitlement (user_id)'),
    ('event_counter_pkey', 'event_counter (single)'),
    ('event_id', 'event (id)'),
    ('event_pkey', 'event (shard, key)'),
    ('event_user', 'event (user_id, id)'),
    ('every_shard_pkey', 'every_shard (shard)'),
    ('evidence_order', 'evidence (order_id) WHERE order_id IS NOT NULL'),
    ('evidence_original', 'evidence (original_id) WHERE original_id IS NOT NULL'),
    ('evidence_period', 'evidence (period) WHERE period IS NOT NULL'),
    ('evidence_purchase', 'evidence (purchase_id, at)'),
    ('heard_hint_age', 'heard_hint (heard_at)'),
    ('heard_hint_pkey', 'heard_hint (source, digest)'),
    ('held_revocation_pkey', 'held_revocation (shard, purchase_id, entitlement)'),
    ('hint_source_pkey', 'hint_source (source)'),
    ('import_pkey', 'import (digest)'),
    ('loss_count_pkey', 'loss_count (lane, minute)'),
    ('migration_pkey', 'migration (version)'),
    ('observation_pkey', 'observation (shard, id)'),
    ('offer_pkey', 'offer (shard, user_id, store, app, subscription_group)'),
    ('order_key_pkey', 'order_key (lane, digest, id)'),
    ('original_key_id', 'original_key (id)'),
    ('original_key_pkey', 'original_key (lane, original_id)'),
    ('policy_digest_key', 'policy (digest)'),
    ('policy_pkey', 'policy (id)'),
    ('purchase_by_id', 'purchase (id)'),
    ('purchase_pkey', 'purchase (shard, id)'),
    ('purchase_user', 'purchase (user_id)'),
    ('refund_request_deadline', 'refund_request (answer_by) WHERE (state = ''open''::text)'),
    ('refund_request_open', 'refund_request (lane, digest) WHERE (state = ''open''::text)'),
    ('refund_request_order', 'refund_request (lane, digest)'),
    ('refund_request_original', 'refund_request (lane, original_digest)'),
    ('refund_request_pkey', 'refund_request (id)'),
    ('refund_request_purchase', 'refund_request (purchase_id)'),
    ('refund_rule_pkey', 'refund_rule (single)'),
    ('schedule_pkey', 'schedule (shard, lane, due_at, id)'),
    ('schedule_suspects', 'schedule (shard, lane, due_at, id) WHERE (crashes > 0)'),
    ('shadow_difference_id', 'shadow_difference (id)'),
    ('shadow_difference_open',
        'shadow_difference (system, shard, user_id, entitlement, class) WHERE (healed_at IS NULL)'),
    ('shadow_difference_pkey', 'shadow_difference (shard, id)'),
    ('shadow_run_pkey', 'shadow_run (system, run)'),
    ('shadow_system_pkey', 'shadow_system (system)'),
    ('shard_pkey', 'shard (shard)'),
    ('successor_key_pkey', 'successor_key (lane, digest)'),
    ('token_key_pkey', 'token_key (lane, digest, product)'),
    ('unclaimed_hint_age', 'unclaimed_hint (heard_at)'),
    ('unclaimed_hint_pkey', 'unclaimed_hint (lane, digest)'),
    ('unhandled_type_pkey', 'unhandled_type (source, type)'),
    ('waiting_hint_pkey', 'waiting_hint (shard, id)'),
    ('worker_pkey', 'worker (id)')
) AS needed (name, definition)
LEFT JOIN pg_class AS index
    ON index.relname = needed.name AND index.relnamespace = 'renewald'::regnamespace
LEFT JOIN pg_index ON pg_index.indexrelid = index.oid
WHERE pg_index.indisvalid IS NOT TRUE OR pg_index.indisready IS NOT TRUE
ORDER BY needed.name
