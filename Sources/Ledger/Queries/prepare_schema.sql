-- Makes room for the list of migrations. Runs under the lock of lock_migrations.
CREATE SCHEMA IF NOT EXISTS renewald;
CREATE TABLE IF NOT EXISTS renewald.migration (
    version int4 PRIMARY KEY,
    applied_at timestamptz NOT NULL DEFAULT now()
);
-- Programs that were written for this version or a later one go on working. 0.1 did not say it.
DO $$
BEGIN
    -- Only where it is missing: ADD COLUMN IF NOT EXISTS would lock the list each time.
    IF NOT EXISTS (
        SELECT FROM pg_attribute
        WHERE attrelid = 'renewald.migration'::regclass AND attname = 'serves')
    THEN
        ALTER TABLE renewald.migration ADD COLUMN serves int4;
    END IF;
END $$;
