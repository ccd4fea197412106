-- Compares what was taken in with what is held, and notes each difference: one that is known stays the same.
-- $system text; $run int8; $at timestamptz; $only text[] (entitlements; empty is all).
-- One row: counts of users and entitlements that either side names; those that were given more than once, and
-- contradictory ones with the number of the first row of one; what entitlements they name, or the first thousand.
WITH pair AS MATERIALIZED (
    SELECT
        given.shard, given.user_id, given.entitlement, bool_or(given.active) AS active,
        bool_and(given.active) AS always, count(*) AS times, min(given.n) AS n
    FROM renewald.shadow_theirs AS given
    WHERE cardinality($only::text[]) = 0 OR given.entitlement = ANY ($only::text[])
    GROUP BY given.shard, given.user_id, given.entitlement
), held AS (
    SELECT entitlement.shard, entitlement.user_id, entitlement.entitlement, entitlement.active
    FROM renewald.entitlement
    WHERE cardinality($only::text[]) = 0 OR entitlement.entitlement = ANY ($only::text[])
), compared AS MATERIALIZED (
    SELECT
        coalesce(pair.shard, held.shard) AS shard, coalesce(pair.user_id, held.user_id) AS user_id,
        coalesce(pair.entitlement, held.entitlement) AS entitlement,
        coalesce(pair.active, false) AS they, coalesce(held.active, false) AS we
    FROM pair
    FULL JOIN held
        ON held.shard = pair.shard AND held.user_id = pair.user_id
        AND held.entitlement = pair.entitlement
), noted AS (
    INSERT INTO renewald.shadow_difference AS known (
        system, shard, user_id, entitlement, class, first_seen_at, last_seen_at, run)
    SELECT
        $system::text, compared.shard, compared.user_id, compared.entitlement,
        CASE WHEN compared.they THEN 'they_grant' ELSE 'we_grant' END, $at::timestamptz, $at::timestamptz,
        $run::int8
    FROM compared
    WHERE compared.they <> compared.we
    ON CONFLICT (system, shard, user_id, entitlement, class) WHERE healed_at IS NULL
    DO UPDATE SET last_seen_at = excluded.last_seen_at, run = excluded.run
)
SELECT
    (SELECT count(*) FROM compared) AS compared,
    (SELECT count(*) FROM compared WHERE compared.they = compared.we) AS agree,
    (SELECT count(*) FROM pair WHERE pair.times > 1) AS doubled,
    (SELECT count(*) FROM pair WHERE pair.active <> pair.always) AS contradictory,
    (SELECT min(pair.n) FROM pair WHERE pair.active <> pair.always) AS example,
    ARRAY(SELECT DISTINCT pair.entitlement FROM pair ORDER BY 1 LIMIT 1000) AS known
