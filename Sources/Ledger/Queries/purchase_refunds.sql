-- What stores asked about refunds of purchases, oldest first.
-- $1 int8[] (purchases' ids). One row a question.
SELECT
    request.id, request.purchase_id, request.order_id, request.asked_at, request.answer_by,
    request.reason, request.state, request.answer, request.answered_by, request.answered_at,
    request.outcome, request.problem
FROM renewald.refund_request AS request
WHERE request.purchase_id = ANY ($1)
ORDER BY request.asked_at, request.id
