-- Keeps by what order a store's news may name purchases. No rows.
INSERT INTO renewald.order_key (lane, digest, id)
SELECT known.lane, sha256(convert_to(known.original_id, 'UTF8')), known.id
FROM unnest($rows) AS known (lane int4, id int8, original_id text)
ON CONFLICT DO NOTHING
