-- Gives each user who has claimed one of the purchases a purchase of their own, due at once: of the baseline too
-- where this is the first sight of it.
-- One row: how many.
WITH shared AS MATERIALIZED (
    SELECT shared.* FROM unnest($rows) AS shared (shard int2, id int8, baseline bool)
), claimed AS MATERIALIZED (
    SELECT
        claimant.shard, claimant.id, claimant.user_id, shared.baseline,
        renewald.shard_of(claimant.user_id) AS new_shard
    FROM shared
    JOIN renewald.claimant ON claimant.shard = shared.shard AND claimant.id = shared.id
    WHERE claimant.copy_id IS NULL
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
    INSERT INTO renewald.credential (shard, id, token, store_user_id, asked_with, product)
    SELECT
        copy.new_shard, copy.new_id, original.token, original.store_user_id, original.asked_with,
        original.product
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
    FROM shared
    WHERE purchase.shard = shared.shard AND purchase.id = shared.id
)
SELECT count(*) AS copies FROM copy
