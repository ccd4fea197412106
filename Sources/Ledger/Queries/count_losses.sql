-- Counts revocations by the minute in which they were let through or held, and ends by their own. A row an app
-- and minute, in order. No rows.
INSERT INTO renewald.loss_count AS loss ($columns)
SELECT counted.*
FROM unnest($rows) AS counted (
    lane int4, minute timestamptz, early int8, held int8, ends int8, lapsed int8
)
ON CONFLICT (lane, minute) DO UPDATE
SET early = loss.early + excluded.early, held = loss.held + excluded.held,
    ends = loss.ends + excluded.ends, lapsed = loss.lapsed + excluded.lapsed
