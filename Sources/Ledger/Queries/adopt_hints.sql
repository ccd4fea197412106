-- Gives purchases what was heard of them while they were being submitted. No parameters. One row: how many.
WITH found AS MATERIALIZED (
    SELECT hint.lane, hint.digest, known.shard, known.id
    FROM renewald.unclaimed_hint AS hint
    JOIN renewald.token_key AS known ON known.lane = hint.lane AND known.digest = hint.digest
    UNION
    SELECT hint.lane, hint.digest, known.shard, known.id
    FROM renewald.unclaimed_hint AS hint
    JOIN renewald.original_key AS known
        ON known.lane = hint.lane AND known.original_id = hint.original_id
), early AS (
    DELETE FROM renewald.unclaimed_hint AS hint
    USING (SELECT DISTINCT lane, digest FROM found) AS known
    WHERE hint.lane = known.lane AND hint.digest = known.digest
    RETURNING hint.lane, hint.digest, hint.clues, hint.account_token
), adopted AS MATERIALIZED (
    SELECT renewald.adopt(lane, found.shard, found.id, early.clues, early.account_token) AS done
    FROM early
    JOIN found USING (lane, digest)
)
SELECT count(*) AS adopted FROM adopted
