-- Whether nothing was decided by these rules before the program began, and something was by others.
-- $1 text (JSON), $2 int8: how long ago it began, in microseconds. One row: bool.
WITH earlier AS MATERIALIZED (
    SELECT policy.digest FROM renewald.policy
    WHERE policy.kept_at < now() - $2::int8 * interval '1 microsecond'
)
SELECT EXISTS (SELECT FROM earlier) AND NOT EXISTS (
    SELECT FROM earlier WHERE earlier.digest = sha256(convert_to($1, 'UTF8'))) AS are_new
