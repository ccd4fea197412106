-- Notes that migration $1 (int4) has been applied, which serves programs of version $2 (int4) and later. No
-- rows.
INSERT INTO renewald.migration (version, serves) VALUES ($1, $2)
