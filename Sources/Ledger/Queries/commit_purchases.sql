-- Stores new facts; fails when a purchase has been changed by another.
-- $1 int2[], $2 int8[], $3 int8[] (shards, ids, known versions), then a column an array; arrays within
-- are array literals. One row.
WITH moved AS (
    UPDATE renewald.purchase
    SET version = purchase.version + 1, product = fact.product, environment = fact.environment,
        kind = fact.kind, state = fact.state, access = fact.access,
        paid_through = fact.paid_through, expires_at = fact.expires_at,
        auto_renew = fact.auto_renew, order_id = fact.order_id, original_id = fact.original_id,
        period = fact.period, phase = fact.phase, stated_at = fact.stated_at,
        lapse = fact.lapse, signals = fact.signals::text[], doubt = fact.doubt,
        doubt_since = fact.doubt_since, subscription_group = fact.subscription_group,
        used_introductory = fact.used_introductory, account_token = fact.account_token,
        ownership = fact.ownership,
        holding_entitlements = fact.holding_entitlements::text[],
        holding_products = fact.holding_products::text[],
        holding_ends = fact.holding_ends::int8[]
    FROM unnest(
        $1::int2[], $2::int8[], $3::int8[], $4::text[], $5::text[], $6::text[], $7::text[],
        $8::text[], $9::timestamptz[], $10::timestamptz[], $11::bool[], $12::text[],
        $13::text[], $14::text[], $15::text[], $16::timestamptz[], $17::text[], $18::text[],
        $19::text[], $20::timestamptz[], $21::text[], $22::text[], $23::text[], $24::text[],
        $25::bool[], $26::text[], $27::text[]
    ) AS fact (
        shard, id, version, product, environment, kind, state, access, paid_through, expires_at,
        auto_renew, order_id, original_id, period, phase, stated_at, lapse, signals, doubt,
        doubt_since, holding_entitlements, holding_products, holding_ends, subscription_group,
        used_introductory, account_token, ownership
    )
    WHERE purchase.shard = fact.shard
      AND purchase.id = fact.id
      AND purchase.version = fact.version
    RETURNING 1
)
SELECT renewald.require(count(*) = cardinality($1), 'the version of a purchase') FROM moved
