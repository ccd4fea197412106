-- Remembers the tokens that purchases continue. The first that names one is it.
-- $1 int4[], $2 text[], $3 int8[] (lanes, tokens, purchases). No rows.
INSERT INTO renewald.successor_key (lane, digest, id)
SELECT named.lane, sha256(convert_to(named.token, 'UTF8')), named.id
FROM unnest($1::int4[], $2::text[], $3::int8[]) AS named (lane, token, id)
ON CONFLICT DO NOTHING
