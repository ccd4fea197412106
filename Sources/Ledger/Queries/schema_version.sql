-- The newest migration that has been applied. One row: version int4, 0 for none.
SELECT coalesce(max(version), 0) AS version FROM renewald.migration
