-- Begins a run, behind one that is at work about the same system.
-- $system text. One row: the number of the run, and its time.
INSERT INTO renewald.shadow_system AS known (system, run, ran_at)
VALUES ($system::text, 1, clock_timestamp())
ON CONFLICT (system) DO UPDATE SET run = known.run + 1, ran_at = clock_timestamp()
RETURNING known.run, known.ran_at
