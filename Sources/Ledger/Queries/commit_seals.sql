-- Puts encrypted tokens in the place of those that were submitted in clear, or copied from another purchase. What has
-- been encrypted meanwhile stays. No rows.
UPDATE renewald.credential
SET token = NULL, sealed = next.sealed, sealed_as = NULL,
    digest = coalesce(credential.digest, sha256(convert_to(credential.token, 'UTF8')))
FROM unnest($rows) AS next (shard int2, id int8, sealed bytea)
WHERE credential.shard = next.shard
  AND credential.id = next.id
  AND credential.asked_with IS NULL
  AND credential.sealed_asked_with IS NULL
  AND (credential.token IS NOT NULL OR credential.sealed_as IS NOT NULL)
