-- Tokens, receipts and stores' whole answers can be encrypted at rest. Nothing is, until a key is configured.

-- The keys that they are encrypted with, each itself encrypted with a key of the configuration, which the database
-- never sees. A key that has encrypted as much as it may is followed by another.
CREATE TABLE renewald.data_key (
    id int4 GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- Tells which key of the configuration opens it.
    key_id bytea NOT NULL CHECK (octet_length(key_id) = 8),
    wrapped bytea NOT NULL CHECK (octet_length(wrapped) = 60),
    -- How many messages workers have taken leave to encrypt with it.
    messages int8 NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL DEFAULT now(),
    -- Nothing more is encrypted with it.
    retired_at timestamptz
);

-- The number of the data key is in bytes 2 to 5 of all that it has encrypted.
CREATE FUNCTION renewald.data_key_of(sealed bytea) RETURNS int4
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
        SELECT ('x' || encode(substring(sealed FROM 2 FOR 4), 'hex'))::bit(32)::int4
    $$;

-- One of the two is the token as it was submitted, and one at most what the store has named since.
ALTER TABLE renewald.credential
    ALTER COLUMN token DROP NOT NULL,
    ADD COLUMN sealed bytea,
    ADD COLUMN sealed_asked_with bytea,
    -- The purchase whose copy this is, for which it was encrypted; null where that is the row's own.
    ADD COLUMN sealed_as int8,
    -- Of an encrypted token: the key of token_key.
    ADD COLUMN digest bytea CHECK (octet_length(digest) = 32),
    ADD CONSTRAINT credential_token CHECK ((token IS NULL) = (sealed IS NOT NULL)) NOT VALID,
    ADD CONSTRAINT credential_digest CHECK (sealed IS NULL OR digest IS NOT NULL) NOT VALID,
    ADD CONSTRAINT credential_asked_with
        CHECK (asked_with IS NULL OR sealed_asked_with IS NULL) NOT VALID;

ALTER TABLE renewald.evidence ADD COLUMN sealed_bodies bytea;

-- Keeps a new data key. Programs that were written for an older schema read no encrypted token: from now on the schema
-- does not serve them. Runs as the owner of the schema.
CREATE FUNCTION renewald.keep_data_key(of_key bytea, wrapped_key bytea) RETURNS int4
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    kept_id int4;
BEGIN
    INSERT INTO renewald.data_key (key_id, wrapped) VALUES (of_key, wrapped_key)
        RETURNING id INTO kept_id;
    UPDATE renewald.migration SET serves = 17
        WHERE version = (SELECT max(version) FROM renewald.migration) AND serves < 17;
    RETURN kept_id;
END $$;

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA renewald FROM PUBLIC;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA renewald TO renewald_worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON renewald.data_key TO renewald_worker;
-- No other column of the evidence is ever written again.
GRANT UPDATE (call_bodies, sealed_bodies) ON renewald.evidence TO renewald_worker;
