-- The revocation breaker: what is counted of each app, whether it has tripped, and what is held.
ALTER TABLE renewald.purchase
    -- Since when the breaker holds its revocation.
    ADD COLUMN held_at timestamptz;

ALTER TABLE renewald.app
    -- Since when its revocations are counted.
    ADD COLUMN counted_since timestamptz NOT NULL DEFAULT now();

CREATE SEQUENCE renewald.trip_number;

-- Whether an app's breaker has tripped, and what a limit above the floor is taken from.
CREATE TABLE renewald.breaker (
    lane int4 PRIMARY KEY,
    trip_id int8,
    tripped_at timestamptz,
    -- Early revocations that were let through in the past four weeks.
    past int8 NOT NULL DEFAULT 0,
    in_force int8 NOT NULL DEFAULT 0,
    measured_at timestamptz,
    CHECK ((trip_id IS NULL) = (tripped_at IS NULL))
);

-- Revocations by the minute of their commit; ends that were to renew by the minute of the end. Kept for four
-- weeks.
CREATE TABLE renewald.loss_count (
    lane int4 NOT NULL,
    minute timestamptz NOT NULL,
    -- Let through before the known end.
    early int8 NOT NULL DEFAULT 0,
    held int8 NOT NULL DEFAULT 0,
    ends int8 NOT NULL DEFAULT 0,
    -- Of these ends those that ended access.
    lapsed int8 NOT NULL DEFAULT 0,
    PRIMARY KEY (lane, minute)
);

CREATE SEQUENCE renewald.held_number;

-- Revocations that were decided and are held.
CREATE TABLE renewald.held_revocation (
    shard int2 NOT NULL,
    purchase_id int8 NOT NULL,
    entitlement text COLLATE "C" NOT NULL,
    id int8 NOT NULL DEFAULT nextval('renewald.held_number'),
    reason text NOT NULL,
    held_at timestamptz NOT NULL,
    trip_id int8,
    PRIMARY KEY (shard, purchase_id, entitlement)
);

CREATE VIEW renewald.held AS
    SELECT held.id, held.held_at, purchase.user_id, held.entitlement, held.reason, held.purchase_id, app.store,
        app.app, held.trip_id
    FROM renewald.held_revocation AS held
    -- A program of before it was known lets go without a word.
    JOIN renewald.purchase ON purchase.shard = held.shard AND purchase.id = held.purchase_id
        AND purchase.access = 'held'
    JOIN renewald.app ON app.lane = purchase.lane;
COMMENT ON VIEW renewald.held IS
    'Revocations that the breaker holds: a row a purchase and entitlement. renewald release lets them go.';

GRANT SELECT, INSERT, UPDATE, DELETE ON renewald.breaker, renewald.loss_count, renewald.held_revocation
    TO renewald_worker;
GRANT USAGE ON SEQUENCE renewald.trip_number, renewald.held_number TO renewald_worker;
GRANT SELECT ON renewald.held TO renewald_app, renewald_worker;
