-- Who is at work, as `count_workers.sql` counts them. No parameters. One row a worker.
SELECT worker.name, worker.started_at, count(shard.shard) AS shards
FROM renewald.worker
LEFT JOIN renewald.shard ON shard.owner = worker.id AND shard.lease_until > now()
WHERE worker.seen_until > now() AND worker.seen_until <= now() + interval '65 minutes'
GROUP BY worker.id, worker.name, worker.started_at
ORDER BY worker.started_at, worker.name
