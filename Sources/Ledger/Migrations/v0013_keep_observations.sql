-- What stores have said of each purchase last, and what each decision was made from: so that decisions can be
-- made again, by another policy or by another program.
CREATE TABLE renewald.observation (
    shard int2 NOT NULL,
    id int8 NOT NULL,
    -- Of the purchase: what was heard counts while the purchase has this version.
    version int8 NOT NULL,
    -- Begins with the number of its format.
    heard bytea NOT NULL,
    -- Of the token that the purchase continues.
    predecessor bytea CHECK (octet_length(predecessor) = 32),
    PRIMARY KEY (shard, id)
) WITH (fillfactor = 85);

ALTER TABLE renewald.schedule
    -- Tells whether the same is kept already, without a look at it.
    ADD COLUMN heard_mark int8;

-- The policies and products that decisions were made by: one row for each change.
CREATE TABLE renewald.policy (
    id int4 GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    digest bytea NOT NULL UNIQUE CHECK (octet_length(digest) = 32),
    -- {"policy": {name: text}, "products": {id: {kind, duration (microseconds), entitlements}}}
    rules jsonb NOT NULL,
    kept_at timestamptz NOT NULL DEFAULT now()
);

ALTER TABLE renewald.evidence
    -- What was known, heard and decided; begins with the number of its format.
    ADD COLUMN record bytea,
    ADD COLUMN policy int4;

GRANT SELECT, INSERT, UPDATE, DELETE ON renewald.observation TO renewald_worker;
GRANT SELECT, INSERT ON renewald.policy TO renewald_worker;
