-- Remembers the tokens that purchases continue. The first that names one is it. No rows.
INSERT INTO renewald.successor_key (lane, digest, id)
SELECT named.lane, sha256(convert_to(named.token, 'UTF8')), named.id
FROM unnest($rows) AS named (lane int4, token text, id int8)
ON CONFLICT DO NOTHING
