-- The fleet as counts: purchases that stand alike, by their state, their next check, their end and their age. Those of
-- apps that are not given are counted and nothing more. For people: it reads the whole schedule.
-- $1 text[] and $2 text[] (stores and names of the apps). One row a class: state and what follows it is null of what was
-- imported and not asked about yet, and of other apps; times in microseconds from now, due_first and due_last null where
-- there is no next check, end_first and end_last without an end; due_after_end where the next check was put there for
-- the end's sake; age in microseconds.
WITH given AS MATERIALIZED (
    SELECT app.lane
    FROM renewald.app
    JOIN unnest($1::text[], $2::text[]) AS name (store, app) USING (store, app)
), class AS MATERIALIZED (
    -- Hours for two days, then days, then weeks.
    SELECT array_agg(bound ORDER BY bound) AS bounds
    FROM (
        SELECT hour * 3600::float8 FROM generate_series(-48, 48) AS hour
        UNION
        SELECT day * 86400::float8 FROM generate_series(-65, 65) AS day
        UNION
        SELECT week * 604800::float8 FROM generate_series(-60, 60) AS week
    ) AS moment (bound)
), purchase_now AS (
    SELECT
        schedule.lane,
        given.lane IS NOT NULL AND (schedule.due_at < '9000-01-01 00:00+00'
            OR schedule.due_at >= '9999-12-31 00:00+00') AS detailed,
        coalesce(purchase.state, 'invalid') AS state,
        coalesce(purchase.kind, 'auto_renewable') AS kind,
        coalesce(purchase.renews_next, purchase.auto_renew, true) AS renews,
        purchase.doubt IS NOT NULL AS doubted,
        CASE
            WHEN schedule.due_at < '9000-01-01 00:00+00'
            THEN date_part('epoch', schedule.due_at - now())
        END AS due,
        date_part('epoch', coalesce(purchase.expires_at, purchase.paid_through) - now()) AS ends,
        date_part('epoch', now() - purchase.created_at) AS age
    FROM renewald.schedule
    LEFT JOIN given ON given.lane = schedule.lane
    LEFT JOIN renewald.purchase
        ON purchase.shard = schedule.shard AND purchase.id = schedule.id
), classed AS (
    SELECT
        purchase_now.*,
        coalesce(state = 'active' AND ends > 0 AND abs(due - ends) < 3600, false) AS timed
    FROM purchase_now
), counted AS (
    SELECT
        classed.lane,
        CASE WHEN detailed THEN classed.state END AS state,
        CASE WHEN detailed THEN classed.kind END AS kind,
        CASE WHEN detailed THEN classed.renews END AS renews,
        CASE WHEN detailed THEN classed.doubted END AS doubted,
        CASE WHEN detailed THEN classed.timed END AS timed,
        CASE WHEN detailed AND NOT timed THEN width_bucket(due, class.bounds) END AS due_class,
        CASE WHEN detailed THEN width_bucket(ends, class.bounds) END AS end_class,
        CASE WHEN detailed THEN width_bucket(age / 86400, '{1, 2, 3, 4, 5, 6, 7, 28}'::float8[]) END
            AS age_class,
        count(*) AS purchases,
        (min(due) * 1000000)::int8 AS due_first, (max(due) * 1000000)::int8 AS due_last,
        (min(ends) * 1000000)::int8 AS end_first, (max(ends) * 1000000)::int8 AS end_last,
        (avg(due - ends) * 1000000)::int8 AS due_after_end, (avg(age) * 1000000)::int8 AS age
    FROM classed
    CROSS JOIN class
    GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9
)
SELECT
    app.store, app.app, counted.state, counted.kind, counted.renews,
    counted.doubted, counted.purchases, counted.due_first, counted.due_last, counted.end_first,
    counted.end_last, CASE WHEN counted.timed THEN counted.due_after_end END AS due_after_end,
    counted.age
FROM counted
JOIN renewald.app USING (lane)
ORDER BY app.store, app.app, counted.state, counted.kind, counted.renews,
    counted.doubted, counted.due_class, counted.end_class, counted.age_class
