-- Counts news that nobody handles, each piece once, by its type.
-- $1 text (source of hints); $2 text (the news's source: apple, pubsub or sqs); $3 text[] (ids); $4 text[] (the type
-- of each); $5 bool[] (whether it is known to be of no use); $6 int8 (types that are kept of a source: the rest is
-- `other`). One row a type: its name, expected bool, whether it is_new, and how many were fresh.
WITH heard AS (
    INSERT INTO renewald.heard_hint (source, digest)
    SELECT DISTINCT $1, sha256(convert_to(news.id, 'UTF8')) FROM unnest($3::text[]) AS news (id)
    ON CONFLICT DO NOTHING
    RETURNING digest
), fresh AS (
    SELECT given.type, bool_and(given.expected) AS expected, count(DISTINCT given.id) AS count
    FROM unnest($3::text[], $4::text[], $5::bool[]) AS given (id, type, expected)
    JOIN heard ON heard.digest = sha256(convert_to(given.id, 'UTF8'))
    GROUP BY given.type
), known AS (
    SELECT type FROM renewald.unhandled_type WHERE source = $2
), placed AS (
    SELECT
        fresh.*, known.type IS NOT NULL AS is_known,
        row_number() OVER (PARTITION BY known.type IS NULL ORDER BY fresh.type) AS place
    FROM fresh
    LEFT JOIN known ON known.type = fresh.type
), named AS (
    SELECT
        CASE WHEN is_known OR place <= $6 - (SELECT count(*) FROM known) THEN type ELSE 'other' END
            AS type,
        bool_and(expected) AS expected, sum(count)::int8 AS count
    FROM placed
    GROUP BY 1
), recorded AS (
    INSERT INTO renewald.unhandled_type AS record (source, type, expected, count)
    SELECT $2, type, expected, count FROM named ORDER BY type
    ON CONFLICT (source, type) DO UPDATE
    SET count = record.count + excluded.count, last_seen_at = now(), expected = excluded.expected
    RETURNING record.type, record.expected, record.first_seen_at = now() AS is_new
)
SELECT recorded.type, recorded.expected, recorded.is_new, named.count AS fresh
FROM recorded
JOIN named USING (type)
ORDER BY recorded.type
