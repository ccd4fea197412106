-- Puts back what rekey_credential_page gave, encrypted anew or in clear; what has changed since stays. One row a row.
UPDATE renewald.credential
SET token = next.token, asked_with = next.asked_with, sealed = next.sealed,
    sealed_asked_with = next.sealed_asked_with, sealed_as = NULL,
    digest = CASE
        WHEN next.sealed IS NOT NULL
        THEN coalesce(credential.digest, sha256(convert_to(credential.token, 'UTF8')))
    END
FROM unnest($rows) AS next (
    shard int2, id int8, seen text, token text, asked_with text, sealed bytea,
    sealed_asked_with bytea
)
WHERE credential.shard = next.shard
  AND credential.id = next.id
  AND credential.xmin::text = next.seen
RETURNING credential.id
