-- Says what answer_refund goes by.
-- answer and policy: text; wait: int8 (microseconds); consented: bool. No rows.
INSERT INTO renewald.refund_rule AS rule (single, answer, policy, wait, customer_consented)
VALUES (true, $answer, $policy, $wait * interval '1 microsecond', $consented)
ON CONFLICT (single) DO UPDATE
SET answer = excluded.answer, policy = excluded.policy, wait = excluded.wait,
    customer_consented = excluded.customer_consented, set_at = now()
