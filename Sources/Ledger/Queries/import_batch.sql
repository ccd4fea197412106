-- Takes purchases of a file in, behind all that is due. What is wrong with one does not stop the others.
-- $1 to $6 text[] (side by side: user ids, stores, apps, products, tokens, store user ids); $7 bool (they are the
-- baseline). One row: how many are new and known, and the numbers of the others, from 1 on, with what is wrong.
SELECT
    count(*) FILTER (WHERE taken.is_new) AS submitted,
    count(*) FILTER (WHERE taken.error IS NULL AND NOT taken.is_new) AS known,
    coalesce(
        array_agg(taken.n::int8 ORDER BY taken.n) FILTER (WHERE taken.error IS NOT NULL), '{}'
    ) AS bad,
    coalesce(
        array_agg(taken.error ORDER BY taken.n) FILTER (WHERE taken.error IS NOT NULL), '{}'
    ) AS faults
FROM renewald.take_in(
    $1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], true, $7::bool) AS taken
