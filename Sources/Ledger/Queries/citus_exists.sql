-- Whether the database has Citus. No parameters. One row.
SELECT EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'citus') AS found
