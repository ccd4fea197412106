-- Notes that migration $1 (int4) has been applied. No rows.
INSERT INTO renewald.migration (version) VALUES ($1)
