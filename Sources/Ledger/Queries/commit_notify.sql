-- Wakes who listens for events. One row.
SELECT pg_notify('renewald_events', '')::text AS notified
