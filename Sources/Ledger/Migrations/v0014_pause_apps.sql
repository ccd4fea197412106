ALTER TABLE renewald.bucket
    -- Since when a person has let nobody ask the store; null while it may be asked.
    ADD COLUMN paused_at timestamptz;
