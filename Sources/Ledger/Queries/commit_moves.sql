-- Hands purchases to other users: all their rows go to the shards of those. Fails unless each is
-- there. One row.
WITH handed AS MATERIALIZED (
    SELECT
        hand.*, purchase.user_id AS old_user,
        coalesce(credential.digest, sha256(convert_to(credential.token, 'UTF8'))) AS digest
    FROM unnest($rows) AS hand (
        shard int2, lane int4, due_at timestamptz, id int8, new_shard int2, new_user text
    )
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
    -- What another purchase of the same id has left there is as good.
    INSERT INTO renewald.clue (shard, id, clue, heard_at, settled_at)
    SELECT new_shard, id, clue, heard_at, settled_at FROM clues_taken
    ON CONFLICT DO NOTHING
), observation_dropped AS (
    -- Kept anew by the same commit, where it is from now on.
    DELETE FROM renewald.observation AS kept
    USING handed
    WHERE kept.shard = handed.shard AND kept.id = handed.id
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
      AND token_key.id = handed.id
), original_moved AS (
    UPDATE renewald.original_key
    SET shard = new_shard
    FROM handed
    WHERE original_key.id = handed.id AND original_key.shard = handed.shard
), claims_moved AS (
    -- Who had it is from now on one who claims it.
    UPDATE renewald.claimant
    SET shard = new_shard,
        user_id = CASE
            WHEN claimant.user_id = handed.new_user THEN handed.old_user
            ELSE claimant.user_id
        END
    FROM handed
    WHERE claimant.shard = handed.shard AND claimant.id = handed.id
)
SELECT renewald.require(
    count(*) = cardinality($shard) AND count(*) = (SELECT count(*) FROM schedule_moved),
    'the shard of a purchase that goes to another user')
FROM moved
