-- The encoding of the database. No parameters. One row.
SELECT current_setting('server_encoding') AS encoding
