-- What the latest runs about a system have counted, the oldest first.
-- $system text; $limit int4 (rows). One row a run.
SELECT * FROM (
    SELECT run.run, run.at, run.compared, run.agree, run.unsettled, run.they_grant, run.we_grant, run.healed
    FROM renewald.shadow_run AS run
    WHERE run.system = $system::text
    ORDER BY run.run DESC
    LIMIT $limit::int4
) AS latest
ORDER BY latest.run
