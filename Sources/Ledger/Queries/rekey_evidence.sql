-- Puts back what rekey_evidence_page gave; what has changed since stays. One row a check.
WITH next AS MATERIALIZED (
    SELECT
        next.purchase_id, next.at, next.part, next.place::tid AS place,
        next.call_bodies::text[] AS call_bodies, next.sealed_bodies
    FROM unnest($rows) AS next (
        purchase_id int8, at timestamptz, part int8, place text, call_bodies text, sealed_bodies bytea
    )
)
UPDATE renewald.evidence
SET call_bodies = next.call_bodies, sealed_bodies = next.sealed_bodies
FROM next
WHERE evidence.purchase_id = next.purchase_id
  AND evidence.at = next.at
  AND evidence.tableoid::int8 = next.part
  AND evidence.ctid = next.place
RETURNING evidence.purchase_id
