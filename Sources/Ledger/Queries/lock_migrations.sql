-- Lets one migration run at a time, until its transaction ends. No parameters, one row.
SELECT pg_advisory_xact_lock(hashtext('renewald migrate'))::text AS locked
