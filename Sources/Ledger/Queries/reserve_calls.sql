-- Reserves the next stretch of the row of calls of a bucket: no two stretches overlap, so that no window ever
-- holds more than the rate, whoever asks. Nothing is reserved further ahead than the horizon, so that somebody
-- who waits at a terminal has little before them; and the background stands back while they do, but for a
-- stretch every five seconds. What is further ahead than any reservation or block can be was written before the
-- clock was set back: the row begins anew.
-- A paused row gives nothing.
-- $1 text (bucket); $2 int8 (the stretch, microseconds); $3 int8 (the horizon, microseconds); $4 bool (somebody
-- waits for it). One row: granted bool; wait_microseconds int8, until it begins, or until to ask again; paused bool.
WITH kept AS MATERIALIZED (
    SELECT
        greatest(
            CASE
                WHEN free_at <= greatest(blocked_until, now())
                    + greatest(interval '2 minutes', 100 * $2 * interval '1 microsecond')
                THEN free_at
            END,
            CASE WHEN blocked_until <= now() + interval '65 minutes' THEN blocked_until END,
            now()) AS begins_at,
        urgent_until > now() AND urgent_until <= now() + interval '2 minutes' AS is_urgent,
        urgent_until, yields_since, paused_at IS NOT NULL AS is_paused
    FROM renewald.bucket
    WHERE bucket.bucket = $1
    FOR NO KEY UPDATE
), offer AS MATERIALIZED (
    SELECT
        begins_at, is_urgent, is_paused,
        greatest(
            begins_at - CASE
                WHEN NOT $4 AND is_urgent AND yields_since <= now() - interval '5 seconds'
                THEN interval '1 minute'
                ELSE $3 * interval '1 microsecond'
            END,
            CASE
                WHEN NOT $4 AND is_urgent AND yields_since <= now()
                THEN least(urgent_until, yields_since + interval '5 seconds')
            END,
            CASE WHEN is_paused THEN now() + interval '1 minute' END) AS granted_from
    FROM kept
), reserved AS (
    UPDATE renewald.bucket
    SET free_at = offer.begins_at + $2 * interval '1 microsecond',
        urgent_until = CASE
            WHEN $4 THEN offer.begins_at + $2 * interval '1 microsecond' + interval '1 second'
            ELSE bucket.urgent_until
        END,
        yields_since = CASE WHEN $4 AND offer.is_urgent THEN bucket.yields_since ELSE now() END
    FROM offer
    WHERE bucket.bucket = $1
      AND offer.granted_from <= now()
    RETURNING 1
)
SELECT
    granted_from <= now() AS granted,
    (extract(epoch FROM CASE WHEN granted_from <= now() THEN begins_at ELSE granted_from END - now())
        * 1000000)::int8 AS wait_microseconds,
    is_paused AS paused,
    (SELECT count(*) FROM reserved) AS reserved
FROM offer
