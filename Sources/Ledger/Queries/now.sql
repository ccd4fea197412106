-- The database's time. No parameters, one row.
SELECT now() AS now
