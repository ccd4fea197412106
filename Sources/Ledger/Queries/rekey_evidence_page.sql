-- As rekey_credential_page, the next kept answers.
-- $1 bytea; $2 int8, $3 timestamptz (purchase and time that they come after); $4 int4; $5 int8. One row a check.
WITH fresh AS MATERIALIZED (
    SELECT array_agg(data_key.id) AS ids FROM renewald.data_key
    WHERE data_key.key_id = $1 AND data_key.retired_at IS NULL
), next AS MATERIALIZED (
    SELECT evidence.purchase_id, evidence.at, evidence.tableoid::int8 AS part,
        evidence.ctid::text AS place, evidence.call_digests, evidence.call_bodies,
        evidence.sealed_bodies,
        coalesce(octet_length(evidence.sealed_bodies), octet_length(evidence.call_bodies::text))
            AS size
    FROM renewald.evidence, fresh
    WHERE (evidence.purchase_id, evidence.at) > ($2, $3)
      AND CASE
          WHEN $1 IS NULL THEN evidence.sealed_bodies IS NOT NULL
          ELSE evidence.call_bodies IS NOT NULL
              OR evidence.sealed_bodies IS NOT NULL
                  AND (renewald.data_key_of(evidence.sealed_bodies) = ANY (fresh.ids)) IS NOT true
      END
    ORDER BY evidence.purchase_id, evidence.at
    LIMIT $4
), sized AS (
    SELECT next.*, row_number() OVER places AS number,
        sum(next.size) OVER places - next.size AS before
    FROM next
    WINDOW places AS (ORDER BY next.purchase_id, next.at, next.place)
)
SELECT sized.purchase_id, sized.at, sized.part, sized.place, sized.call_digests,
    coalesce(sized.call_bodies, '{}') AS call_bodies, sized.sealed_bodies
FROM sized
WHERE sized.before <= $5 OR sized.number = 1
ORDER BY sized.purchase_id, sized.at
