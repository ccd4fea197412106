-- Part of statements: what claims and books know of a purchase.
purchase.user_id, purchase.created_at, purchase.claimed_by_others, purchase.claimed_by,
    purchase.version, {fact_columns},
    coalesce(credential.asked_with, credential.token) AS token, credential.store_user_id
