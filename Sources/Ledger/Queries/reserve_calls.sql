-- Reserves the next stretches of the rows of calls of some buckets: no two stretches of a row overlap, so that no
-- window ever holds more than the rate, whoever asks. Nothing is reserved further ahead than the horizon, so that
-- somebody who waits at a terminal has little before them; and the background stands back while they do, but for
-- a stretch every five seconds. What is further ahead than any reservation or block can be was written before the
-- clock was set back: the row begins anew.
-- A paused row gives nothing. Rows are locked in the order of their names: two workers never wait for one another.
-- $1 text[] (buckets, each once); $2 int8[] (the stretch of each, microseconds); $3 int8[] (its horizon,
-- microseconds); $4 bool[] (somebody waits for it). One row a bucket, in their order: wait_microseconds
-- int8, until it begins, or until to ask again; reserved_until timestamptz, null where nothing is granted; paused bool.
WITH wanted AS MATERIALIZED (
    SELECT
        given.n, given.bucket, given.stretch * interval '1 microsecond' AS stretch,
        given.horizon * interval '1 microsecond' AS horizon, given.is_urgent
    FROM unnest($1::text[], $2::int8[], $3::int8[], $4::bool[])
        WITH ORDINALITY AS given (bucket, stretch, horizon, is_urgent, n)
), kept AS MATERIALIZED (
    SELECT
        wanted.n, wanted.bucket, wanted.stretch, wanted.horizon, wanted.is_urgent AS waits,
        greatest(
            CASE
                WHEN free_at <= greatest(blocked_until, now())
                    + greatest(interval '2 minutes', 100 * wanted.stretch)
                THEN free_at
            END,
            CASE WHEN blocked_until <= now() + interval '65 minutes' THEN blocked_until END,
            now()) AS begins_at,
        urgent_until > now() AND urgent_until <= now() + interval '2 minutes' AS is_urgent,
        urgent_until, yields_since, paused_at IS NOT NULL AS is_paused
    FROM wanted
    JOIN renewald.bucket ON bucket.bucket = wanted.bucket
    ORDER BY bucket.bucket
    FOR NO KEY UPDATE OF bucket
), offer AS MATERIALIZED (
    SELECT
        n, bucket, stretch, waits, begins_at, is_urgent, is_paused,
        greatest(
            begins_at - CASE
                WHEN NOT waits AND is_urgent AND yields_since <= now() - interval '5 seconds'
                THEN interval '1 minute'
                ELSE horizon
            END,
            CASE
                WHEN NOT waits AND is_urgent AND yields_since <= now()
                THEN least(urgent_until, yields_since + interval '5 seconds')
            END,
            CASE WHEN is_paused THEN now() + interval '1 minute' END) AS granted_from
    FROM kept
), reserved AS (
    UPDATE renewald.bucket
    SET free_at = offer.begins_at + offer.stretch,
        urgent_until = CASE
            WHEN offer.waits THEN offer.begins_at + offer.stretch + interval '500 milliseconds'
            ELSE bucket.urgent_until
        END,
        yields_since = CASE WHEN offer.waits AND offer.is_urgent THEN bucket.yields_since ELSE now() END
    FROM offer
    WHERE bucket.bucket = offer.bucket
      AND offer.granted_from <= now()
    RETURNING 1
)
SELECT
    (extract(epoch FROM CASE WHEN granted_from <= now() THEN begins_at ELSE granted_from END - now())
        * 1000000)::int8 AS wait_microseconds,
    CASE WHEN granted_from <= now() THEN begins_at + stretch END AS reserved_until,
    is_paused AS paused,
    (SELECT count(*) FROM reserved) AS reserved
FROM offer
ORDER BY n
