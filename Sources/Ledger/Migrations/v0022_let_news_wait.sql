-- News about a purchase whose rows another session holds, such as a backend that has submitted it and has not committed
-- yet, waits by itself: the news beside it goes on. It only adds.

CREATE TABLE renewald.waiting_hint (
    shard int2 NOT NULL,
    id int8 NOT NULL,
    lane int4 NOT NULL,
    PRIMARY KEY (shard, id)
);
COMMENT ON TABLE renewald.waiting_hint IS
    'Purchases that news is about, and whose places in the schedule another session held: made due later.';

ALTER TABLE renewald.unclaimed_hint
    -- What the digest would be, had another session not held the row of it.
    ADD COLUMN known_as bytea CHECK (octet_length(known_as) = 32);

CREATE FUNCTION renewald.lock_free(of_shard int2, lanes int4[], ids int8[]) RETURNS int8[]
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    RETURN ARRAY(
        SELECT place.id
        FROM unnest(lanes, ids) AS given (lane, id)
        JOIN renewald.schedule AS place
            ON place.shard = of_shard AND place.lane = given.lane AND place.id = given.id
        ORDER BY place.id
        FOR NO KEY UPDATE OF place SKIP LOCKED);
END $$;
COMMENT ON FUNCTION renewald.lock_free(int2, int4[], int8[]) IS
    'Locks places of one shard in the schedule, wherever they are in it, but those that another session holds.';

CREATE FUNCTION renewald.held_news(lanes int4[], digests bytea[]) RETURNS TABLE (lane int4, digest bytea)
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
    AS $$
#variable_conflict use_column
DECLARE
    free bytea[];
BEGIN
    free := ARRAY(
        SELECT kept.digest
        FROM unnest(lanes, digests) AS given (lane, digest)
        JOIN renewald.unclaimed_hint AS kept ON kept.lane = given.lane AND kept.digest = given.digest
        ORDER BY kept.lane, kept.digest
        FOR UPDATE OF kept SKIP LOCKED);
    RETURN QUERY
        SELECT kept.lane, kept.digest
        FROM unnest(lanes, digests) AS given (lane, digest)
        JOIN renewald.unclaimed_hint AS kept ON kept.lane = given.lane AND kept.digest = given.digest
        WHERE kept.digest <> ALL (free);
END $$;
COMMENT ON FUNCTION renewald.held_news(int4[], bytea[]) IS
    'Of what was heard of purchases before they are submitted, that which another session holds; locks the rest.';

REVOKE ALL ON FUNCTION
    renewald.lock_free(int2, int4[], int8[]),
    renewald.held_news(int4[], bytea[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
    renewald.lock_free(int2, int4[], int8[]),
    renewald.held_news(int4[], bytea[]) TO renewald_worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON renewald.waiting_hint TO renewald_worker;
