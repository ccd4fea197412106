-- What stores ask about refunds and charge-backs, with a deadline, and what they are answered.

-- By what a store's question names a purchase of Google: no token, but the first order. digest is the SHA-256 of
-- its id; Apple's are in original_key. A commit adds to it, and changes nothing of it.
CREATE TABLE renewald.order_key (
    lane int4 NOT NULL,
    digest bytea NOT NULL CHECK (octet_length(digest) = 32),
    id int8 NOT NULL,
    PRIMARY KEY (lane, digest, id)
);
INSERT INTO renewald.order_key (lane, digest, id)
SELECT purchase.lane, sha256(convert_to(purchase.original_id, 'UTF8')), purchase.id
FROM renewald.purchase
JOIN renewald.app USING (lane)
WHERE app.store = 'google' AND purchase.original_id IS NOT NULL;

-- A question may be about a purchase that nobody has submitted. Its notice has no user, and is in the shard
-- of the order id. All that was written until now has them.
ALTER TABLE renewald.event
    ALTER COLUMN user_id DROP NOT NULL,
    ALTER COLUMN purchase_id DROP NOT NULL,
    ALTER COLUMN purchase_version DROP NOT NULL,
    ALTER COLUMN product DROP NOT NULL,
    ADD CONSTRAINT event_of_purchase CHECK (
        kind = 'notice'
        OR user_id IS NOT NULL AND purchase_id IS NOT NULL AND product IS NOT NULL) NOT VALID;

-- [refunds] of the configuration in force, as the daemon has read it last: answer_refund goes by it.
CREATE TABLE renewald.refund_rule (
    single boolean PRIMARY KEY DEFAULT true CHECK (single),
    answer text NOT NULL DEFAULT 'off' CHECK (answer IN ('off', 'policy', 'app')),
    policy text NOT NULL DEFAULT 'neutral'
        CHECK (policy IN ('grant', 'prorate', 'decline', 'neutral')),
    wait interval NOT NULL DEFAULT '4 hours',
    customer_consented boolean NOT NULL DEFAULT false,
    set_at timestamptz NOT NULL DEFAULT now()
);
INSERT INTO renewald.refund_rule DEFAULT VALUES;

-- A question, or several about the same order while one was open. Not by shard: at first nobody knows the
-- user, and two questions about one order must meet. digest and original_digest are the SHA-256 of the ids.
CREATE TABLE renewald.refund_request (
    id int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    lane int4 NOT NULL,
    digest bytea NOT NULL CHECK (octet_length(digest) = 32),
    original_digest bytea NOT NULL CHECK (octet_length(original_digest) = 32),
    order_id text NOT NULL,
    original_id text NOT NULL,
    environment text NOT NULL CHECK (environment IN ('production', 'sandbox')),
    -- The store's names of the news; the first one names the event.
    news_ids text[] NOT NULL CHECK (cardinality(news_ids) > 0),
    -- Null until somebody submits it.
    purchase_id int8,
    account_token text,
    -- What the answer has to name. A secret, as a credential is.
    token text,
    reason text,
    asked_at timestamptz NOT NULL CHECK (isfinite(asked_at)),
    heard_at timestamptz NOT NULL DEFAULT now(),
    answer_by timestamptz NOT NULL CHECK (isfinite(answer_by)),
    state text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'answered', 'expired', 'closed')),
    outcome text CHECK (outcome IN ('refunded', 'declined')),
    -- The answer, from when it was decided; the store has it when state says so.
    answer text CHECK (answer IN ('grant', 'prorate', 'decline', 'neutral')),
    answered_by text CHECK (answered_by IN ('app', 'policy')),
    answered_at timestamptz,
    consumed_milli_percent int4 CHECK (consumed_milli_percent BETWEEN 0 AND 100000),
    delivered boolean,
    sample_provided boolean,
    customer_consented boolean,
    -- Who is about to send it: written before the call. Each attempt has its number, so that who was slow
    -- cannot write over a later one.
    sender uuid,
    sending_until timestamptz,
    attempts int4 NOT NULL DEFAULT 0,
    send_at timestamptz NOT NULL DEFAULT 'epoch',
    problem text,
    -- When it was said that the deadline is near and nobody answers.
    warned_at timestamptz,
    CHECK ((answer IS NULL) = (answered_at IS NULL) AND (answer IS NULL) = (answered_by IS NULL)),
    CHECK (state <> 'answered' OR answer IS NOT NULL),
    CHECK ((sender IS NULL) = (sending_until IS NULL)),
    CHECK (outcome IS NULL OR state = 'closed')
) WITH (fillfactor = 80);
-- One open request an order.
CREATE UNIQUE INDEX refund_request_open ON renewald.refund_request (lane, digest)
    WHERE state = 'open';
CREATE INDEX refund_request_order ON renewald.refund_request (lane, digest);
CREATE INDEX refund_request_original ON renewald.refund_request (lane, original_digest);
CREATE INDEX refund_request_purchase ON renewald.refund_request (purchase_id);
CREATE INDEX refund_request_deadline ON renewald.refund_request (answer_by) WHERE state = 'open';

CREATE FUNCTION renewald.answer_refund(
    id bigint, preference text, consumed_percent numeric DEFAULT NULL,
    delivered boolean DEFAULT true, sample_provided boolean DEFAULT false,
    customer_consented boolean DEFAULT false)
    RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
#variable_conflict use_variable
DECLARE
    rule renewald.refund_rule;
    asked renewald.refund_request;
    of_store text;
BEGIN
    IF preference IS NULL OR preference NOT IN ('grant', 'prorate', 'decline', 'neutral') THEN
        RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
            MESSAGE = format('renewald.answer_refund: unknown preference %L', left(preference, 40)),
            HINT = 'The preference is grant, prorate, decline or neutral.';
    END IF;
    -- NaN is greater than any number.
    IF consumed_percent < 0 OR consumed_percent > 100 THEN
        RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
            MESSAGE = format('renewald.answer_refund: consumed_percent is %s', consumed_percent),
            HINT = 'consumed_percent is a number from 0 to 100.';
    END IF;
    SELECT * INTO asked FROM renewald.refund_request AS known WHERE known.id = id FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'no_data_found',
            MESSAGE = format('renewald.answer_refund: there is no request %s', coalesce(id::text, 'NULL')),
            HINT = 'The ids are those of renewald.refund_requests.';
    END IF;
    IF asked.state <> 'open' THEN
        RAISE EXCEPTION USING ERRCODE = 'object_not_in_prerequisite_state',
            MESSAGE = format('renewald.answer_refund: request %s is %s', id, asked.state),
            HINT = 'Only a request that is open can be answered, and only once.';
    END IF;
    IF asked.answer IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'object_not_in_prerequisite_state',
            MESSAGE = format('renewald.answer_refund: request %s has an answer already: %s, by %s',
                id, asked.answer,
                CASE asked.answered_by WHEN 'app' THEN 'the app' ELSE 'the policy' END),
            HINT = 'A request is answered once; the first answer counts.';
    END IF;
    IF asked.answer_by <= clock_timestamp() THEN
        RAISE EXCEPTION USING ERRCODE = 'object_not_in_prerequisite_state',
            MESSAGE = format('renewald.answer_refund: request %s had to be answered by %s',
                id, asked.answer_by),
            HINT = 'The store decides alone after that time.';
    END IF;
    SELECT * INTO rule FROM renewald.refund_rule;
    IF coalesce(rule.answer, 'off') = 'off' THEN
        RAISE EXCEPTION USING ERRCODE = 'object_not_in_prerequisite_state',
            MESSAGE = 'renewald.answer_refund: [refunds] answer = "off": nothing is sent to a store',
            HINT = 'Set [refunds] answer = "app" or "policy" and reload renewald.';
    END IF;
    SELECT app.store INTO of_store FROM renewald.app WHERE app.lane = asked.lane;
    customer_consented := coalesce(customer_consented, false) OR rule.customer_consented;
    IF of_store = 'apple' AND NOT customer_consented THEN
        RAISE EXCEPTION USING ERRCODE = 'object_not_in_prerequisite_state',
            MESSAGE = 'renewald.answer_refund: Apple takes no answer without the consent of the customer',
            HINT = 'Pass customer_consented => true for a customer who has agreed, or set [refunds] '
                'customer_consented = true where your terms have the consent of all.';
    END IF;
    UPDATE renewald.refund_request AS known
        SET answer = preference, answered_by = 'app', answered_at = now(),
            consumed_milli_percent = round(consumed_percent * 1000)::int4,
            delivered = coalesce(delivered, true),
            sample_provided = coalesce(sample_provided, false),
            customer_consented = customer_consented, send_at = now(), problem = NULL
        WHERE known.id = asked.id;
END $$;
COMMENT ON FUNCTION renewald.answer_refund(bigint, text, numeric, boolean, boolean, boolean) IS
    'Answers a store''s question about a refund, once and until answer_by. The daemon sends the answer.';

CREATE VIEW renewald.refund_requests AS
    SELECT request.id, app.store, app.app, request.purchase_id, purchase.user_id, request.order_id,
        request.asked_at, request.answer_by, request.reason, request.state, request.answer,
        request.answered_at, request.outcome, request.problem
    FROM renewald.refund_request AS request
    JOIN renewald.app USING (lane)
    LEFT JOIN renewald.purchase ON purchase.id = request.purchase_id;

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA renewald FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
    renewald.answer_refund(bigint, text, numeric, boolean, boolean, boolean) TO renewald_app;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA renewald TO renewald_worker;
GRANT SELECT ON renewald.refund_requests TO renewald_app, renewald_worker;
GRANT SELECT, INSERT, UPDATE, DELETE
    ON renewald.refund_request, renewald.refund_rule, renewald.order_key TO renewald_worker;
