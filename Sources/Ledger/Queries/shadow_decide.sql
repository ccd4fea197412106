-- Notes why both differ. No rows.
UPDATE renewald.shadow_difference AS note
SET cause = decided.cause, since = decided.since
FROM unnest($rows) AS decided (id int8, cause text, since timestamptz)
WHERE note.id = decided.id
