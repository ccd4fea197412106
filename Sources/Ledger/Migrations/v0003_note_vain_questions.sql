-- What the rules about old answers and silence need of each check, also of one that changes nothing:
-- when the store last stated anything (an older answer is dropped), and since when it has been asked in
-- vain (only that time counts as staleness, not the time in which nobody asked).
ALTER TABLE renewald.schedule
    ADD COLUMN stated_at timestamptz,
    ADD COLUMN in_vain_since timestamptz,
    ADD COLUMN in_vain_at timestamptz,
    ADD CHECK ((in_vain_since IS NULL) = (in_vain_at IS NULL));

-- Apple may reopen a subscription after however long: what was never to be asked about again is, within
-- a month.
UPDATE renewald.schedule
SET due_at = now() + random() * interval '30 days'
FROM renewald.purchase, renewald.app
WHERE app.lane = schedule.lane AND app.store = 'apple'
  AND purchase.shard = schedule.shard AND purchase.id = schedule.id
  AND purchase.kind = 'auto_renewable' AND purchase.state IN ('expired', 'refunded', 'revoked')
  AND schedule.due_at = '9999-12-31 00:00+00'
  AND coalesce(schedule.problem, '') NOT LIKE 'set_aside:%';
