-- Makes due what hints are about. Left alone are hints that were heard before, purchases that are due
-- already or were checked since the pull began, and those that a newer link has taken over (but Apple's,
-- which may be reopened). One that is
-- being asked about now is made due anew: its answer may be older than the news; and so is one with a
-- clue that is new, as its last answer may not have shown it. Due already, that one keeps its place, and a check that has
-- begun without the clue does not move it on. A clue that was looked into is new again where the same has
-- happened once more: a day after that at least, as news of one thing comes more than once, and its dates differ.
-- What nobody has submitted yet is kept with all that was said, up to fifty clues.
-- $1 text (source); $2 text (store); $3 text (app); $4 timestamptz (when the pull began); $5 text[]
-- (hints' ids); $6 text[] and $7 text[] (the token or the original id of each); $8 text[] (its clue); $9 text[] (the
-- account token that came with it); $10 bool (whether to pass by what another session holds: it waits by itself); $11
-- timestamptz[] (when it happened, by the store). One row: how many were new, made due, and about what nobody has
-- submitted.
WITH heard AS (
    INSERT INTO renewald.heard_hint (source, digest)
    SELECT DISTINCT $1, sha256(convert_to(hint.id, 'UTF8')) FROM unnest($5::text[]) AS hint (id)
    ON CONFLICT DO NOTHING
    RETURNING digest
), hint AS MATERIALIZED (
    SELECT DISTINCT
        app.lane, given.original_id, given.clue, given.account_token, given.happened_at,
        sha256(convert_to(
            btrim(coalesce(given.token, given.original_id), E' \t\r\n'), 'UTF8')) AS digest
    FROM unnest($5::text[], $6::text[], $7::text[], $8::text[], $9::text[],
            $11::timestamptz[])
        AS given (id, token, original_id, clue, account_token, happened_at)
    JOIN heard ON heard.digest = sha256(convert_to(given.id, 'UTF8'))
    JOIN renewald.app ON app.store = $2 AND app.app = $3
), found AS MATERIALIZED (
    SELECT hint.lane, hint.digest, hint.clue, hint.happened_at, known.shard, known.id
    FROM hint
    JOIN renewald.token_key AS known ON known.lane = hint.lane AND known.digest = hint.digest
    UNION
    SELECT hint.lane, hint.digest, hint.clue, hint.happened_at, known.shard, known.id
    FROM hint
    JOIN renewald.original_key AS known
        ON known.lane = hint.lane AND known.original_id = hint.original_id
), bought AS MATERIALIZED (
    SELECT found.*, CASE WHEN purchase.state = 'superseded' THEN purchase.original_id END AS twin_of
    FROM found
    JOIN renewald.purchase ON purchase.shard = found.shard AND purchase.id = found.id
), copied AS MATERIALIZED (
    SELECT
        found.lane, found.clue, found.happened_at, renewald.shard_of(claimant.user_id) AS shard,
        claimant.copy_id AS id
    FROM found
    JOIN renewald.claimant ON claimant.shard = found.shard AND claimant.id = found.id
    WHERE claimant.copy_id IS NOT NULL
), meant AS MATERIALIZED (
    -- Submitted in two forms: the first is asked about. Given to several users: each has his own.
    SELECT
        bought.lane, bought.clue, bought.happened_at, coalesce(first.shard, bought.shard) AS shard,
        coalesce(first.id, bought.id) AS id
    FROM bought
    LEFT JOIN renewald.original_key AS first
        ON first.lane = bought.lane AND first.original_id = bought.twin_of
    UNION
    SELECT copied.lane, copied.clue, copied.happened_at, copied.shard, copied.id FROM copied
), fresh AS MATERIALIZED (
    SELECT meant.shard, meant.id, meant.clue
    FROM meant
    LEFT JOIN renewald.clue AS known
        ON known.shard = meant.shard AND known.id = meant.id AND known.clue = meant.clue
    WHERE meant.clue IS NOT NULL
      AND (known.clue IS NULL OR known.settled_at + interval '1 day' < least(meant.happened_at, now()))
    GROUP BY meant.shard, meant.id, meant.clue
), noted AS (
    INSERT INTO renewald.clue AS known (shard, id, clue, heard_at)
    SELECT fresh.shard, fresh.id, fresh.clue, now() FROM fresh
    ON CONFLICT (shard, id, clue) DO UPDATE
    SET heard_at = excluded.heard_at, settled_at = NULL
    WHERE known.settled_at IS NOT NULL
    RETURNING known.shard, known.id
), clued AS MATERIALIZED (
    SELECT DISTINCT shard, id FROM noted
), part AS MATERIALIZED (
    SELECT meant.shard, array_agg(meant.lane) AS lanes, array_agg(meant.id) AS ids
    FROM (SELECT DISTINCT meant.shard, meant.lane, meant.id FROM meant WHERE $10) AS meant
    GROUP BY meant.shard
), free AS MATERIALIZED (
    SELECT part.shard, renewald.lock_free(part.shard, part.lanes, part.ids) AS ids FROM part
), waiting AS (
    INSERT INTO renewald.waiting_hint (shard, id, lane)
    SELECT DISTINCT meant.shard, meant.id, meant.lane
    FROM meant
    LEFT JOIN free ON free.shard = meant.shard AND meant.id = ANY (free.ids)
    WHERE $10 AND free.shard IS NULL
    ON CONFLICT DO NOTHING
), clock AS MATERIALIZED (
    SELECT now() AS now
), woken AS (
    -- Joined, not looked for in a condition: PostgreSQL tries conditions again where another session has changed the
    -- row meanwhile, and fails where they read a part that writes and has not been read to its end.
    UPDATE renewald.schedule
    SET due_at = CASE
            WHEN schedule.due_at > clock.now OR meant.id = ANY (shard.in_hand) THEN clock.now
            ELSE (schedule.due_at AT TIME ZONE 'UTC' + interval '1 microsecond') AT TIME ZONE 'UTC'
        END, attempts = 0
    FROM meant
    CROSS JOIN clock
    LEFT JOIN clued ON clued.shard = meant.shard AND clued.id = meant.id
    JOIN renewald.purchase ON purchase.shard = meant.shard AND purchase.id = meant.id
    JOIN renewald.shard ON shard.shard = meant.shard
    LEFT JOIN free ON free.shard = meant.shard AND meant.id = ANY (free.ids)
    WHERE schedule.shard = meant.shard
      AND schedule.lane = meant.lane
      AND schedule.id = meant.id
      AND (purchase.state <> 'superseded' OR $2 = 'apple')
      AND (schedule.due_at > now() OR meant.id = ANY (shard.in_hand) OR clued.id IS NOT NULL)
      -- A check of the future was before the clock was set back.
      AND (schedule.checked_at IS NULL OR schedule.checked_at <= $4
          OR schedule.checked_at > now() OR clued.id IS NOT NULL)
      AND coalesce(schedule.problem, '') NOT LIKE 'set_aside:%'
      AND (free.shard IS NOT NULL OR NOT $10)
    RETURNING schedule.due_at = clock.now AS is_new
), early AS MATERIALIZED (
    SELECT DISTINCT hint.lane, hint.digest FROM hint
    WHERE NOT EXISTS (SELECT 1 FROM found WHERE found.digest = hint.digest)
), held AS MATERIALIZED (
    SELECT kept.lane, kept.digest
    FROM (
        SELECT array_agg(early.lane) AS lanes, array_agg(early.digest) AS digests FROM early WHERE $10
    ) AS heard
    CROSS JOIN LATERAL renewald.held_news(heard.lanes, heard.digests) AS kept
), unclaimed AS (
    INSERT INTO renewald.unclaimed_hint AS kept (
        lane, digest, known_as, original_id, clues, account_token)
    SELECT
        hint.lane,
        CASE WHEN held.lane IS NULL THEN hint.digest ELSE sha256(hint.digest) END AS digest,
        held.digest AS known_as, max(hint.original_id),
        (coalesce(array_agg(DISTINCT hint.clue) FILTER (WHERE hint.clue IS NOT NULL), '{}'))[:50],
        max(hint.account_token)
    FROM hint
    JOIN early ON early.lane = hint.lane AND early.digest = hint.digest
    LEFT JOIN held ON held.lane = hint.lane AND held.digest = hint.digest
    GROUP BY hint.lane, hint.digest, held.lane, held.digest
    ORDER BY hint.lane, hint.digest
    ON CONFLICT (lane, digest) DO UPDATE
    SET heard_at = now(), original_id = coalesce(excluded.original_id, kept.original_id),
        clues = ARRAY(
            SELECT DISTINCT clue FROM unnest(kept.clues || excluded.clues) AS clue
            ORDER BY clue LIMIT 50),
        account_token = coalesce(excluded.account_token, kept.account_token)
    RETURNING 1
)
SELECT
    (SELECT count(*) FROM heard) AS fresh, (SELECT count(*) FILTER (WHERE woken.is_new) FROM woken) AS woken,
    (SELECT count(*) FROM unclaimed) AS unclaimed
