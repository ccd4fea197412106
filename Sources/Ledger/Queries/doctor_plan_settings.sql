-- For this transaction: nothing is written, and a table is read as a whole only where no index fits, so
-- that a missing one shows on small tables too. No parameters. One row.
SELECT
    set_config('transaction_read_only', 'on', true) AS read_only,
    set_config('enable_seqscan', 'off', true) AS seqscan
