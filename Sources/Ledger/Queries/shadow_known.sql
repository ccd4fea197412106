-- Which entitlements anybody holds here, or has held: those that are asked about first.
-- $only text[] (entitlements); $limit int4 (rows). One row an entitlement.
SELECT held.entitlement
FROM renewald.entitlement AS held
GROUP BY held.entitlement
ORDER BY held.entitlement = ANY ($only::text[]) DESC, held.entitlement
LIMIT $limit::int4
