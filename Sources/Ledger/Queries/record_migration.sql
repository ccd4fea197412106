-- Notes that migration $1 (int4) has been applied, which serves programs of version $2 (int4) and later, but no older
-- ones than the schema before did. No rows.
INSERT INTO renewald.migration (version, serves)
SELECT $1::int4, greatest($2::int4, max(migration.serves)) FROM renewald.migration
