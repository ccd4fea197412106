-- What another system believes is compared with what is known here, and the differences are kept between the runs.

-- Each system that was compared with, by a name of the operator's, and how often. Its row is locked by a run until its
-- end: two runs about the same system follow each other.
CREATE TABLE renewald.shadow_system (
    system text PRIMARY KEY CHECK (system <> ''),
    run int8 NOT NULL,
    ran_at timestamptz NOT NULL
);

-- What a run has read of their rows, until its end: the transaction that adds them takes them away. Nobody else ever
-- sees one, and none is worth a line of the log.
CREATE UNLOGGED TABLE renewald.shadow_theirs (
    n int8 NOT NULL,
    shard int2 NOT NULL,
    user_id text NOT NULL,
    entitlement text NOT NULL,
    active boolean NOT NULL
);

-- Users and entitlements about which both differ, or have differed.
CREATE TABLE renewald.shadow_difference (
    id int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    system text NOT NULL,
    shard int2 NOT NULL,
    user_id text NOT NULL,
    entitlement text NOT NULL,
    class text NOT NULL CHECK (class IN ('they_grant', 'we_grant')),
    -- Null until the run that has found it has looked into it.
    cause text,
    -- When that came about of which they do not know; null where no time is known.
    since timestamptz,
    first_seen_at timestamptz NOT NULL,
    last_seen_at timestamptz NOT NULL,
    -- The last run that has seen it.
    run int8 NOT NULL,
    -- Null while it is there.
    healed_at timestamptz
);
CREATE UNIQUE INDEX shadow_difference_open
    ON renewald.shadow_difference (system, shard, user_id, entitlement, class) WHERE healed_at IS NULL;

-- What each run has counted.
CREATE TABLE renewald.shadow_run (
    system text NOT NULL,
    run int8 NOT NULL,
    at timestamptz NOT NULL,
    compared int8 NOT NULL,
    agree int8 NOT NULL,
    unsettled int8 NOT NULL,
    they_grant int8 NOT NULL,
    we_grant int8 NOT NULL,
    healed int8 NOT NULL,
    PRIMARY KEY (system, run),
    CHECK (compared = agree + unsettled + they_grant + we_grant)
);

GRANT SELECT, INSERT, UPDATE, DELETE ON renewald.shadow_system, renewald.shadow_theirs,
    renewald.shadow_difference, renewald.shadow_run TO renewald_worker;
