-- Keeps a new data key. $1 bytea (the key of the configuration), $2 bytea (wrapped with it). One row: its number.
SELECT renewald.keep_data_key($1, $2) AS id
