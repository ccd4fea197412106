-- Spreads what grows with the purchases over the servers of Citus, by shard; what is spread already stays. The rest,
-- and the events, whose order one counter tells, stay on the coordinator. A script; PostgreSQL without Citus has none of
-- these functions.
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY[
        'account', 'purchase', 'credential', 'claimant', 'schedule', 'entitlement', 'offer', 'clue',
        'held_revocation', 'observation', 'evidence', 'shadow_theirs', 'shadow_difference', 'every_shard'
    ] LOOP
        CONTINUE WHEN EXISTS (
            SELECT 1 FROM pg_dist_partition WHERE logicalrelid = ('renewald.' || name)::regclass);
        PERFORM create_distributed_table(
            'renewald.' || name, 'shard',
            colocate_with => CASE WHEN name = 'account' THEN 'none' ELSE 'renewald.account' END);
        PERFORM truncate_local_data_after_distributing_table(('renewald.' || name)::regclass);
    END LOOP;
END $$;
