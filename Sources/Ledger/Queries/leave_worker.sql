-- Takes a worker off the list, and with it those that have been dead for a day.
-- $1 uuid. No rows.
DELETE FROM renewald.worker WHERE id = $1 OR seen_until < now() - interval '1 day'
