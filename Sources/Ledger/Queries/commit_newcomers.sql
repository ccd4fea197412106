-- Opens accounts for users who get a purchase that another has submitted. No rows.
INSERT INTO renewald.account ($columns)
SELECT * FROM unnest($rows) AS newcomer (shard int2, user_id text)
ON CONFLICT DO NOTHING
