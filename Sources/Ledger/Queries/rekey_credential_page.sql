-- The next credentials that are in clear or encrypted with a data key that is not in use for a key of the configuration;
-- where no key is given, those that are encrypted. As much as fits, and one at least.
-- $1 bytea (the key; null: all is to be in clear); $2 int2, $3 int8 (shard and id that they come after); $4 int4 (most
-- rows); $5 int8 (most bytes). One row a credential.
WITH fresh AS MATERIALIZED (
    SELECT array_agg(data_key.id) AS ids FROM renewald.data_key
    WHERE data_key.key_id = $1 AND data_key.retired_at IS NULL
), next AS MATERIALIZED (
    SELECT credential.*, credential.xmin::text AS seen
    FROM renewald.credential, fresh
    WHERE (credential.shard, credential.id) > ($2, $3)
      AND CASE
          WHEN $1 IS NULL
          THEN credential.sealed IS NOT NULL OR credential.sealed_asked_with IS NOT NULL
          ELSE credential.token IS NOT NULL OR credential.asked_with IS NOT NULL
              OR credential.sealed_as IS NOT NULL
              OR (renewald.data_key_of(credential.sealed) = ANY (fresh.ids)) IS NOT true
              OR credential.sealed_asked_with IS NOT NULL
                  AND (renewald.data_key_of(credential.sealed_asked_with) = ANY (fresh.ids))
                      IS NOT true
      END
    ORDER BY credential.shard, credential.id
    LIMIT $4
), sized AS (
    SELECT next.*,
        sum(coalesce(octet_length(next.token), octet_length(next.sealed)))
            OVER (ORDER BY next.shard, next.id)
            - coalesce(octet_length(next.token), octet_length(next.sealed)) AS before
    FROM next
)
SELECT sized.shard, sized.id, coalesce(sized.sealed_as, sized.id) AS sealed_for, sized.seen,
    sized.token, sized.asked_with, sized.sealed, sized.sealed_asked_with
FROM sized
WHERE sized.before <= $5
ORDER BY sized.shard, sized.id
