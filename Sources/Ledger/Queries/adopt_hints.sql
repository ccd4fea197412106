-- Gives purchases what was heard of them while they were being submitted, but those whose rows another session holds.
-- No parameters. One row: how many.
WITH found AS MATERIALIZED (
    SELECT hint.lane, hint.digest, known.shard, known.id
    FROM renewald.unclaimed_hint AS hint
    JOIN renewald.token_key AS known
        ON known.lane = hint.lane AND known.digest = coalesce(hint.known_as, hint.digest)
    UNION
    SELECT hint.lane, hint.digest, known.shard, known.id
    FROM renewald.unclaimed_hint AS hint
    JOIN renewald.original_key AS known
        ON known.lane = hint.lane AND known.original_id = hint.original_id
), part AS MATERIALIZED (
    SELECT found.shard, array_agg(found.lane) AS lanes, array_agg(found.id) AS ids
    FROM (SELECT DISTINCT found.shard, found.lane, found.id FROM found) AS found
    GROUP BY found.shard
), free AS MATERIALIZED (
    SELECT part.shard, renewald.lock_free(part.shard, part.lanes, part.ids) AS ids, holder.purchases
    FROM part
    CROSS JOIN LATERAL renewald.lock_holders(part.shard, part.ids, '{}') AS holder
), whole AS MATERIALIZED (
    SELECT found.lane, found.digest
    FROM found
    LEFT JOIN free
        ON free.shard = found.shard AND found.id = ANY (free.ids) AND found.id = ANY (free.purchases)
    GROUP BY found.lane, found.digest
    HAVING bool_and(free.shard IS NOT NULL)
), early AS (
    DELETE FROM renewald.unclaimed_hint AS hint
    USING whole
    WHERE hint.lane = whole.lane AND hint.digest = whole.digest
    RETURNING hint.lane, hint.digest, hint.clues, hint.account_token
), adopted AS MATERIALIZED (
    SELECT renewald.adopt(lane, found.shard, found.id, early.clues, early.account_token) AS done
    FROM early
    JOIN found USING (lane, digest)
)
SELECT count(*) AS adopted FROM adopted
