-- Lets one worker at a time read each of these sources of hints, and not before it is due. What was read in the future,
-- or rests or is leased longer than any source, was so before the clock was set back, and is due or free. A row is written for
-- those only that this worker gets, always in the same order, so that two workers cannot wait for one another.
-- $1 uuid (worker); $2 text[] (sources); $3 int8 (lease, microseconds); $4 bool (also before they are due);
-- $5 text[] (of those, these at most so long before; they may rest for a day), $6 int8 (microseconds). One row a source:
-- whether this worker may read it, where to go on, failures in a row; how long until it may, or until it is due, in
-- microseconds; now.
WITH given AS MATERIALIZED (
    SELECT DISTINCT wanted.source FROM unnest($2::text[]) AS wanted (source)
), known AS MATERIALIZED (
    SELECT
        given.source, rest.pull_at, source.lease_until,
        source.source IS NULL OR (
            (source.lease_until <= now() OR source.owner = $1
                OR source.lease_until > now() + interval '65 minutes')
            AND (rest.pull_at <= now() OR $4)
            AND (rest.pull_at <= now() + $6 * interval '1 microsecond' OR source.source <> ALL ($5))) AS is_free
    FROM given
    LEFT JOIN renewald.hint_source AS source ON source.source = given.source
    CROSS JOIN LATERAL (
        SELECT CASE
            WHEN source.pulled_at > now() + interval '1 minute'
                OR source.pull_at > now() + CASE
                    WHEN source.source = ANY ($5) THEN interval '25 hours'
                    ELSE interval '65 minutes'
                END
            THEN now()
            ELSE source.pull_at
        END AS pull_at
    ) AS rest
), claimed AS (
    INSERT INTO renewald.hint_source AS source (source, owner, lease_until)
    SELECT known.source, $1, now() + $3 * interval '1 microsecond'
    FROM known
    WHERE known.is_free
    ORDER BY known.source
    ON CONFLICT (source) DO UPDATE
    SET owner = excluded.owner, lease_until = excluded.lease_until
    WHERE (source.lease_until <= now() OR source.owner = $1
          OR source.lease_until > now() + interval '65 minutes')
      AND (
          source.pulled_at > now() + interval '1 minute'
          OR source.pull_at > now() + CASE
              WHEN source.source = ANY ($5) THEN interval '25 hours'
              ELSE interval '65 minutes'
          END
          OR (
              (source.pull_at <= now() OR $4)
              AND (source.pull_at <= now() + $6 * interval '1 microsecond' OR source.source <> ALL ($5))))
    RETURNING source.source, source.position, source.failures
)
SELECT
    known.source, claimed.source IS NOT NULL AS is_claimed, claimed.position,
    coalesce(claimed.failures, 0) AS failures,
    greatest(
        (extract(epoch FROM greatest(
            known.pull_at, CASE WHEN claimed.source IS NULL THEN known.lease_until END) - now()) * 1000000)::int8, 0)
        AS wait_microseconds,
    now() AS now
FROM known
LEFT JOIN claimed ON claimed.source = known.source
