-- Gives purchases whose original id has become known what was heard of that id before, and has them asked about
-- again. After what moves: each is where its key says. One row: how many.
WITH early AS (
    DELETE FROM renewald.unclaimed_hint AS hint
    USING unnest($rows) AS taken (lane int4, original_id text)
    WHERE hint.lane = taken.lane
      AND hint.digest = sha256(convert_to(taken.original_id, 'UTF8'))
    RETURNING taken.lane, taken.original_id, hint.clues, hint.account_token
), adopted AS MATERIALIZED (
    SELECT renewald.adopt(
        early.lane, known.shard, known.id, early.clues, early.account_token) AS done
    FROM early
    JOIN renewald.original_key AS known
        ON known.lane = early.lane AND known.original_id = early.original_id
)
SELECT count(*) AS adopted FROM adopted
