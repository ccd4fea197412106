-- Whoever waits at a terminal goes before the background, in the one row of calls that they share.
ALTER TABLE renewald.bucket
    -- Until then somebody may want a further call.
    ADD COLUMN urgent_until timestamptz NOT NULL DEFAULT 'epoch',
    -- Since then the background stands back for them.
    ADD COLUMN yields_since timestamptz NOT NULL DEFAULT 'epoch';
