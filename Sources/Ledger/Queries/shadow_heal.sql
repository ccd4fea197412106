-- What a run has not seen any more has healed.
-- $system text; $run int8; $at timestamptz; $only text[] (entitlements; empty is all). One row: how many.
WITH healed AS (
    UPDATE renewald.shadow_difference AS note
    SET healed_at = $at::timestamptz
    WHERE note.system = $system::text AND note.healed_at IS NULL AND note.run <> $run::int8
        AND (cardinality($only::text[]) = 0 OR note.entitlement = ANY ($only::text[]))
    RETURNING note.id
)
SELECT count(*) AS healed FROM healed
