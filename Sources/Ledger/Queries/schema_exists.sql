-- Whether the schema has been made. One row: found bool.
SELECT to_regclass('renewald.migration') IS NOT NULL AS found
