-- Keeps what a run has counted, and lets go what it has read and what healed, or was counted, more than 400 days ago.
-- $system text; $run int8; $at timestamptz; the counts, int8. No rows.
WITH read AS (
    DELETE FROM renewald.shadow_theirs
), healed AS (
    DELETE FROM renewald.shadow_difference AS note
    WHERE note.system = $system::text AND note.healed_at < $at::timestamptz - interval '400 days'
), old AS (
    DELETE FROM renewald.shadow_run AS run
    WHERE run.system = $system::text AND run.at < $at::timestamptz - interval '400 days'
)
INSERT INTO renewald.shadow_run (
    system, run, at, compared, agree, unsettled, they_grant, we_grant, healed)
SELECT
    $system::text, $run::int8, $at::timestamptz, $compared::int8, $agree::int8, $unsettled::int8,
    $they_grant::int8, $we_grant::int8, $healed::int8
