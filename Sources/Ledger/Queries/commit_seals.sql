-- Puts encrypted tokens in the place of those that were submitted in clear, or copied from another purchase. What has
-- been encrypted meanwhile stays. No rows.
WITH next AS MATERIALIZED (
    -- The digest is of what was submitted: whatever becomes of the row meanwhile, it stays.
    SELECT next.*, coalesce(known.digest, sha256(convert_to(known.token, 'UTF8'))) AS digest
    FROM unnest($rows) AS next (shard int2, id int8, sealed bytea)
    JOIN renewald.credential AS known ON known.shard = next.shard AND known.id = next.id
)
UPDATE renewald.credential
SET token = NULL, sealed = next.sealed, sealed_as = NULL, digest = next.digest
FROM next
WHERE credential.shard = next.shard
  AND credential.id = next.id
  AND credential.asked_with IS NULL
  AND credential.sealed_asked_with IS NULL
  AND (credential.token IS NOT NULL OR credential.sealed_as IS NOT NULL)
