-- Puts requests off that cannot be read, so that those behind them have their turn; a person may mend the row.
-- id: int8; problem: text; one row each. No rows.
UPDATE renewald.refund_request AS request
SET send_at = now() + interval '1 hour', problem = bad.problem
FROM unnest($rows) AS bad (id int8, problem text)
WHERE request.id = bad.id AND request.state = 'open' AND request.sender IS NULL
