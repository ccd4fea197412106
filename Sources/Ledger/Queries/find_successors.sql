-- The purchases that name the given tokens as what they continue.
-- $1 int4[], $2 text[] (lanes, tokens). One row for each that is known.
SELECT wanted.lane, wanted.token, known.id
FROM unnest($1::int4[], $2::text[]) AS wanted (lane, token)
JOIN renewald.successor_key AS known
    ON known.lane = wanted.lane AND known.digest = sha256(convert_to(wanted.token, 'UTF8'))
