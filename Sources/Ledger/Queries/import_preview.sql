-- What would become of purchases of a file. Writes nothing.
-- $1 to $6 text[] (side by side: user ids, stores, apps, products, tokens, store user ids). One row a purchase, in
-- their order: fault, null when nothing is wrong; whether it is known; a number that the same purchase has again.
SELECT
    judged.fault,
    coalesce(key.id IS NOT NULL, false) AS is_known,
    hashtextextended(
        concat_ws(E'\x01', given.store, given.app, judged.name, judged.digest::text), 0) AS key
FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[])
    WITH ORDINALITY AS given (user_id, store, app, product, token, store_user_id, n)
CROSS JOIN LATERAL (
    SELECT
        renewald.submission_fault(
            given.user_id, given.store, given.app, given.product, given.token, given.store_user_id
        ) AS fault,
        CASE
            WHEN renewald.is_app_receipt(given.store, btrim(given.token, E' \t\r\n'))
            THEN given.product
            ELSE ''
        END AS name,
        sha256(convert_to(coalesce(btrim(given.token, E' \t\r\n'), ''), 'UTF8')) AS digest
) AS judged
LEFT JOIN renewald.app ON app.store = given.store AND app.app = given.app
LEFT JOIN LATERAL (
    -- By its whole key, whatever the planner believes of a table that was filled a moment ago.
    SELECT token_key.id FROM renewald.token_key
    WHERE token_key.lane = app.lane AND token_key.digest = judged.digest
      AND token_key.product = judged.name
    LIMIT 1
) AS key ON true
ORDER BY given.n
