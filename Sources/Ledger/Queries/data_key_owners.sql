-- With which keys of the configuration data keys are kept. No parameters. One row a key of the configuration, by age.
SELECT data_key.key_id, count(*) AS data_keys
FROM renewald.data_key
GROUP BY data_key.key_id
ORDER BY min(data_key.id)
