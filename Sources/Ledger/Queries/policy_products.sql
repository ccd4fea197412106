-- The products that decisions were made by.
-- $1 int4 (the number of the policy). One row a product; duration in microseconds.
SELECT
    product.key AS id, product.value ->> 'kind' AS kind,
    (product.value ->> 'duration')::int8 AS duration,
    ARRAY(SELECT jsonb_array_elements_text(product.value -> 'entitlements')) AS entitlements
FROM renewald.policy, jsonb_each(policy.rules -> 'products') AS product
WHERE policy.id = $1
