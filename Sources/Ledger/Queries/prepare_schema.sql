-- Makes room for the list of migrations. Runs under the lock of lock_migrations.
CREATE SCHEMA IF NOT EXISTS renewald;
CREATE TABLE IF NOT EXISTS renewald.migration (
    version int4 PRIMARY KEY,
    applied_at timestamptz NOT NULL DEFAULT now()
);
