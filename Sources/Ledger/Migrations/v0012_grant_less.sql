-- The daemon's role loses the rights that no program has used: it adds events and evidence and never changes or
-- deletes one, takes no purchase away, and does not say which migrations were applied.
REVOKE UPDATE, DELETE ON renewald.event, renewald.evidence, renewald.evidence_rest
    FROM renewald_worker;
REVOKE INSERT, UPDATE, DELETE ON renewald.migration FROM renewald_worker;
REVOKE DELETE ON renewald.account, renewald.app, renewald.bucket, renewald.credential,
    renewald.entitlement, renewald.event_counter, renewald.hint_source, renewald.order_key,
    renewald.original_key, renewald.purchase, renewald.refund_request, renewald.refund_rule,
    renewald.schedule, renewald.shard, renewald.successor_key, renewald.token_key,
    renewald.unhandled_type FROM renewald_worker;
