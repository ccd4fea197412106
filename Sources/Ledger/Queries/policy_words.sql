-- The choices of a policy that decisions were made by.
-- $1 int4 (its number). One row a choice.
SELECT word.key AS name, word.value
FROM renewald.policy, jsonb_each_text(policy.rules -> 'policy') AS word
WHERE policy.id = $1
