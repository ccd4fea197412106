-- Stores new facts; fails when a purchase has been changed by another. A row a purchase: the known
-- version, then the facts, arrays among them as array literals. One row.
WITH fact AS MATERIALIZED (
    SELECT fact.shard, fact.id, fact.version, {fact_values}
    FROM unnest($rows) AS fact (shard int2, id int8, version int8, {fact_types})
), moved AS (
    UPDATE renewald.purchase
    SET version = purchase.version + 1, {fact_changes}
    FROM fact
    WHERE purchase.shard = fact.shard
      AND purchase.id = fact.id
      AND purchase.version = fact.version
    RETURNING 1
)
SELECT renewald.require(count(*) = cardinality($shard), 'the version of a purchase') FROM moved
