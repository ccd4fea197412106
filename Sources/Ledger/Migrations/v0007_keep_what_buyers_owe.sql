-- What a buyer has committed to pay for over several periods, and why a purchase gives access as it does.

ALTER TABLE renewald.purchase
    -- End of the commitment; null without one.
    ADD COLUMN commitment_ends_at timestamptz CHECK (isfinite(commitment_ends_at)),
    -- Whether the next period of a commitment is owed and will be charged; null without one.
    ADD COLUMN renews_next boolean,
    -- Why access was given last, as lapse is why it was lost last. Null where that was before this was kept.
    ADD COLUMN gain text;

CREATE OR REPLACE VIEW renewald.purchases AS
    SELECT purchase.id, purchase.user_id, app.store, app.app, purchase.environment, purchase.product,
        purchase.kind, purchase.state, purchase.access, purchase.paid_through, purchase.expires_at,
        purchase.auto_renew, purchase.order_id, purchase.original_id, schedule.checked_at,
        CASE
            WHEN app.configured IS NOT false AND schedule.due_at < '9999-12-31 00:00+00'
            THEN schedule.due_at
        END AS next_check_at,
        CASE
            WHEN app.configured IS NOT false THEN schedule.problem
            ELSE 'unsupported: this app is not configured'
        END AS problem, purchase.created_at,
        purchase.account_token, purchase.ownership, purchase.commitment_ends_at,
        CASE
            WHEN purchase.access = 'none' THEN purchase.lapse
            -- Of access that was given before its reason was kept, the union knows the reason.
            ELSE coalesce(
                purchase.gain,
                (
                    SELECT min(entitlement.reason)
                    FROM renewald.entitlement
                    WHERE entitlement.shard = purchase.shard
                      AND entitlement.user_id = purchase.user_id
                      AND entitlement.purchase_id = purchase.id AND entitlement.active
                ))
        END AS access_reason
    FROM renewald.purchase
    JOIN renewald.app USING (lane)
    LEFT JOIN renewald.schedule USING (shard, lane, id);
