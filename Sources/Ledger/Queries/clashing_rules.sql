-- In what two policies differ by which purchases of one app were decided in turn, for an hour or longer, within a day:
-- of the last 10,000 events. No parameters. One row a difference, ten at most of each app: whether it is a product,
-- and its name.
WITH late AS MATERIALIZED (
    SELECT event.store, event.app, event.purchase_id, event.created_at
    FROM renewald.event ORDER BY event.id DESC LIMIT 10000
), span AS (
    SELECT late.store, late.app, evidence.policy, min(late.created_at) AS since, max(late.created_at) AS until
    FROM late
    JOIN renewald.evidence ON evidence.purchase_id = late.purchase_id AND evidence.at = late.created_at
    WHERE late.created_at > now() - interval '1 day' AND evidence.policy IS NOT NULL
    GROUP BY late.store, late.app, evidence.policy
), clash AS (
    SELECT DISTINCT ON (one.store, one.app) one.store, one.app, one.policy, other.policy AS other_policy
    FROM span AS one
    JOIN span AS other ON other.store = one.store AND other.app = one.app AND other.policy > one.policy
    WHERE least(one.until, other.until) - greatest(one.since, other.since) >= interval '1 hour'
    ORDER BY one.store, one.app, least(one.until, other.until) DESC
)
SELECT clash.store, clash.app, difference.is_product, difference.name
FROM clash
JOIN renewald.policy AS one ON one.id = clash.policy
JOIN renewald.policy AS other ON other.id = clash.other_policy
CROSS JOIN LATERAL (
    SELECT part.key = 'products' AS is_product, member.name
    FROM (VALUES ('policy'), ('products')) AS part (key)
    CROSS JOIN LATERAL jsonb_object_keys((one.rules -> part.key) || (other.rules -> part.key)) AS member (name)
    WHERE one.rules -> part.key -> member.name IS DISTINCT FROM other.rules -> part.key -> member.name
    ORDER BY 1, 2
    LIMIT 10
) AS difference
ORDER BY clash.store, clash.app, difference.is_product, difference.name
