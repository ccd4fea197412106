-- Forgets clues that no check could look into in a month, and after half a year those that were looked
-- into: no store tells the same again after that. No parameters, no rows.
DELETE FROM renewald.clue
WHERE heard_at < now() - interval '30 days'
  AND (settled_at IS NULL OR heard_at < now() - interval '180 days')
