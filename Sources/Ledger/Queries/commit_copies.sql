-- Gives each user who has claimed one of the purchases a purchase of their own, of the baseline too where this is the
-- first sight of it. It is due since the one that it copies was, or waits for its first check as that one did, so that
-- the same pass asks about it.
-- One row: how many.
WITH shared AS MATERIALIZED (
    SELECT shared.* FROM unnest($rows) AS shared (shard int2, id int8, baseline bool, due_at timestamptz)
), claimed AS MATERIALIZED (
    SELECT
        claimant.shard, claimant.id, claimant.user_id, shared.baseline, shared.due_at,
        renewald.shard_of(claimant.user_id) AS new_shard
    FROM shared
    JOIN renewald.claimant ON claimant.shard = shared.shard AND claimant.id = shared.id
    JOIN renewald.credential AS asked ON asked.shard = shared.shard AND asked.id = shared.id
    WHERE claimant.copy_id IS NULL
      AND coalesce(claimant.store_user_id = asked.store_user_id, true)
), copy AS MATERIALIZED (
    SELECT claimed.*, nextval('renewald.purchase_id') AS new_id
    FROM claimed
), opened AS (
    INSERT INTO renewald.account (shard, user_id)
    SELECT DISTINCT new_shard, user_id FROM copy
    ON CONFLICT DO NOTHING
), bought AS (
    INSERT INTO renewald.purchase (
        shard, id, lane, user_id, product, original_id, claimed_by_others, baseline)
    SELECT
        copy.new_shard, copy.new_id, original.lane, copy.user_id, original.product,
        original.original_id, true, copy.baseline
    FROM copy
    JOIN renewald.purchase AS original USING (shard, id)
), known AS (
    INSERT INTO renewald.credential (
        shard, id, token, store_user_id, asked_with, product, sealed, sealed_asked_with, sealed_as,
        digest)
    SELECT
        copy.new_shard, copy.new_id, original.token, original.store_user_id, original.asked_with,
        original.product, original.sealed, original.sealed_asked_with,
        CASE
            WHEN coalesce(original.sealed, original.sealed_asked_with) IS NOT NULL
            THEN coalesce(original.sealed_as, original.id)
        END, original.digest
    FROM copy
    JOIN renewald.credential AS original USING (shard, id)
), encrypted AS (
    SELECT DISTINCT renewald.data_key_of(part.sealed) AS id
    FROM copy
    JOIN renewald.credential AS original USING (shard, id)
    CROSS JOIN unnest(ARRAY[original.sealed, original.sealed_asked_with]) AS part (sealed)
    WHERE part.sealed IS NOT NULL
), held AS (
    -- It is not dropped before this is committed.
    SELECT 1 FROM renewald.data_key
    WHERE data_key.id = ANY (ARRAY(SELECT encrypted.id FROM encrypted))
    FOR KEY SHARE
), due AS (
    INSERT INTO renewald.schedule (shard, lane, due_at, id)
    SELECT
        copy.new_shard, original.lane,
        CASE
            WHEN copy.due_at >= '9000-01-01 00:00+00' AND copy.due_at < '9999-12-31 00:00+00'
            THEN copy.due_at
            ELSE least(copy.due_at, now())
        END, copy.new_id
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
    FROM shared
    WHERE purchase.shard = shared.shard AND purchase.id = shared.id
)
SELECT
    (SELECT count(*) FROM copy) AS copies,
    renewald.require(
        (SELECT count(*) FROM held) = (SELECT count(*) FROM encrypted),
        'the data key of the encryption')
