-- How much is not as rekey leaves it, up to a limit: it reads no further. $1 bytea (the key; null: all is to be in clear),
-- $2 int8 (limit). One row: credentials, answers.
WITH fresh AS MATERIALIZED (
    SELECT array_agg(data_key.id) AS ids FROM renewald.data_key
    WHERE data_key.key_id = $1 AND data_key.retired_at IS NULL
), credentials AS (
    SELECT 1 FROM renewald.credential, fresh
    WHERE CASE
        WHEN $1 IS NULL
        THEN credential.sealed IS NOT NULL OR credential.sealed_asked_with IS NOT NULL
        ELSE credential.token IS NOT NULL OR credential.asked_with IS NOT NULL
            OR credential.sealed_as IS NOT NULL
            OR (renewald.data_key_of(credential.sealed) = ANY (fresh.ids)) IS NOT true
            OR credential.sealed_asked_with IS NOT NULL
                AND (renewald.data_key_of(credential.sealed_asked_with) = ANY (fresh.ids))
                    IS NOT true
    END
    LIMIT $2
), answers AS (
    SELECT 1 FROM renewald.evidence, fresh
    WHERE CASE
        WHEN $1 IS NULL THEN evidence.sealed_bodies IS NOT NULL
        ELSE evidence.call_bodies IS NOT NULL
            OR evidence.sealed_bodies IS NOT NULL
                AND (renewald.data_key_of(evidence.sealed_bodies) = ANY (fresh.ids)) IS NOT true
    END
    LIMIT $2
)
SELECT (SELECT count(*) FROM credentials) AS credentials, (SELECT count(*) FROM answers) AS answers
