-- Lets the statements behind it in this transaction wait a moment only for what another session holds. One row.
SELECT set_config('lock_timeout', '200ms', true)
