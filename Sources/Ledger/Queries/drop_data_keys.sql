-- Drops data keys that have encrypted nothing that is still there. Reads everything. $1 int4[] (their numbers). One row:
-- how many.
WITH dropped AS (
    DELETE FROM renewald.data_key
    WHERE data_key.id = ANY ($1)
      -- The limit is for Citus, which gathers what there is.
      AND NOT EXISTS (
          SELECT 1 FROM renewald.credential
          WHERE renewald.data_key_of(credential.sealed) = ANY ($1)
             OR renewald.data_key_of(credential.sealed_asked_with) = ANY ($1)
          LIMIT 1)
      AND NOT EXISTS (
          SELECT 1 FROM renewald.evidence
          WHERE renewald.data_key_of(evidence.sealed_bodies) = ANY ($1)
          LIMIT 1)
    RETURNING 1
)
SELECT count(*) AS dropped FROM dropped
