-- Puts back what rekey_credential_page gave, encrypted anew or in clear; what has changed since stays. One row a row.
WITH next AS MATERIALIZED (
    SELECT next.*, coalesce(known.digest, sha256(convert_to(known.token, 'UTF8'))) AS digest
    FROM unnest($rows) AS next (
        shard int2, id int8, seen text, token text, asked_with text, sealed bytea,
        sealed_asked_with bytea
    )
    JOIN renewald.credential AS known ON known.shard = next.shard AND known.id = next.id
)
UPDATE renewald.credential
SET token = next.token, asked_with = next.asked_with, sealed = next.sealed,
    sealed_asked_with = next.sealed_asked_with, sealed_as = NULL,
    digest = CASE WHEN next.sealed IS NOT NULL THEN next.digest END
FROM next
WHERE credential.shard = next.shard
  AND credential.id = next.id
  AND credential.xmin::text = next.seen
RETURNING credential.id
