-- Part of statements: what claims and books know of a purchase.
purchase.user_id, purchase.created_at, purchase.claimed_by_others, purchase.claimed_by,
    purchase.version, {fact_columns},
    CASE
        WHEN credential.sealed_asked_with IS NULL
        THEN coalesce(credential.asked_with, credential.token)
    END AS token,
    CASE
        WHEN credential.asked_with IS NULL
        THEN coalesce(credential.sealed_asked_with, credential.sealed)
    END AS sealed_token,
    credential.sealed_asked_with IS NOT NULL AS is_named,
    coalesce(credential.sealed_as, purchase.id) AS sealed_for,
    credential.asked_with IS NULL AND credential.sealed_asked_with IS NULL
        AND (credential.token IS NOT NULL OR credential.sealed_as IS NOT NULL) AS lacks_seal,
    credential.store_user_id
