-- What psql's \d+ and other tools show of the public views: comments, and nothing else. Programs that were written for
-- any earlier version go on.

COMMENT ON SCHEMA renewald IS
    'renewald: who has paid, and is still paying. Views and functions are the contract; tables change between versions.';

COMMENT ON VIEW renewald.entitlements IS
    'What each user may do, or could: one row for each entitlement that any purchase of theirs has granted.';
COMMENT ON COLUMN renewald.entitlements.user_id IS 'The user, as submitted; compared byte by byte.';
COMMENT ON COLUMN renewald.entitlements.entitlement IS
    'Its name by the configuration; without one, the product''s id.';
COMMENT ON COLUMN renewald.entitlements.active IS 'Whether the user has it now: what has() returns.';
COMMENT ON COLUMN renewald.entitlements.expires_at IS
    'When access ends or has ended; null for ever. It may lie in the past while active: the store decides the end.';
COMMENT ON COLUMN renewald.entitlements.will_renew IS
    'Whether the store will renew it; null where that is not known, or where nothing renews.';
COMMENT ON COLUMN renewald.entitlements.in_grace IS 'Whether a payment is outstanding while access goes on.';
COMMENT ON COLUMN renewald.entitlements.reason IS 'The reason of the last grant or revoke.';
COMMENT ON COLUMN renewald.entitlements.store IS 'Where it was bought: apple, google or amazon.';
COMMENT ON COLUMN renewald.entitlements.product IS 'The product that grants it, or granted it last.';
COMMENT ON COLUMN renewald.entitlements.purchase_id IS 'The purchase that grants it, or granted it last.';
COMMENT ON COLUMN renewald.entitlements.updated_at IS 'When the row last changed.';
COMMENT ON COLUMN renewald.entitlements.environment IS 'production or sandbox.';

COMMENT ON VIEW renewald.events IS
    'What has changed, in the order of the commits. Read it with events_after(): no event is skipped then.';
COMMENT ON COLUMN renewald.events.id IS 'Rises by commit. A reader keeps the last one as its cursor.';
COMMENT ON COLUMN renewald.events.key IS
    'Made from the content, the same for ever: tells whether an event has been handled already.';
COMMENT ON COLUMN renewald.events.created_at IS 'When the transaction that wrote it began.';
COMMENT ON COLUMN renewald.events.kind IS
    'grant and revoke: access to an entitlement begins or ends. notice: something else about a purchase.';
COMMENT ON COLUMN renewald.events.reason IS 'Why, in one word, such as purchased, expired or renewed.';
COMMENT ON COLUMN renewald.events.user_id IS
    'The user; null only for a question about a purchase that nobody has submitted.';
COMMENT ON COLUMN renewald.events.entitlement IS 'Of grants and revokes; null for notices.';
COMMENT ON COLUMN renewald.events.purchase_id IS 'The purchase that it follows from.';
COMMENT ON COLUMN renewald.events.store IS 'apple, google or amazon.';
COMMENT ON COLUMN renewald.events.app IS 'The bundle id or package name.';
COMMENT ON COLUMN renewald.events.environment IS 'production or sandbox.';
COMMENT ON COLUMN renewald.events.product IS 'The store''s product id.';
COMMENT ON COLUMN renewald.events.order_id IS 'The store''s id of the order or transaction, where it names one.';
COMMENT ON COLUMN renewald.events.effective_at IS 'Since when it is so, by the store where that says it.';
COMMENT ON COLUMN renewald.events.expires_at IS 'When access ends or has ended; null for ever.';
COMMENT ON COLUMN renewald.events.detail IS 'More, by kind and reason; docs/events.md lists the members.';

COMMENT ON VIEW renewald.purchases IS 'Each receipt or token that was submitted, and what is known of it.';
COMMENT ON COLUMN renewald.purchases.id IS 'What submit() has returned.';
COMMENT ON COLUMN renewald.purchases.user_id IS 'Whose it is: who submitted it, or whom it was transferred to.';
COMMENT ON COLUMN renewald.purchases.store IS 'apple, google or amazon.';
COMMENT ON COLUMN renewald.purchases.app IS 'The bundle id or package name.';
COMMENT ON COLUMN renewald.purchases.environment IS
    'production or sandbox, as the store said once; null before the first answer.';
COMMENT ON COLUMN renewald.purchases.product IS 'The store''s product id.';
COMMENT ON COLUMN renewald.purchases.kind IS
    'auto_renewable, non_renewing, non_consumable or consumable; null before the first answer.';
COMMENT ON COLUMN renewald.purchases.state IS
    'new (never checked), pending (not paid yet), active, grace, hold, paused, expired, refunded, revoked, superseded '
    '(a later purchase has taken over) or invalid.';
COMMENT ON COLUMN renewald.purchases.access IS
    'granted, none, or held: the breaker holds its revocation, and the user keeps access.';
COMMENT ON COLUMN renewald.purchases.paid_through IS 'The end of what has been paid for.';
COMMENT ON COLUMN renewald.purchases.expires_at IS
    'The end that the store names, grace and unpaid days included; null for ever or not known.';
COMMENT ON COLUMN renewald.purchases.auto_renew IS
    'Whether renewal is turned on; null where that is not known, or where nothing renews.';
COMMENT ON COLUMN renewald.purchases.order_id IS 'The store''s id of the latest order or transaction.';
COMMENT ON COLUMN renewald.purchases.original_id IS
    'Apple''s original transaction id, Google''s base order id, Amazon''s receipt id.';
COMMENT ON COLUMN renewald.purchases.checked_at IS 'When the store last told its state.';
COMMENT ON COLUMN renewald.purchases.next_check_at IS
    'When it is asked about next; null for never, also while its app is not configured.';
COMMENT ON COLUMN renewald.purchases.problem IS
    'Why the last check told nothing or cannot be believed: a code, a colon and a sentence; null if nothing is wrong.';
COMMENT ON COLUMN renewald.purchases.created_at IS 'When it was submitted first.';
COMMENT ON COLUMN renewald.purchases.account_token IS
    'The user as the app has named them to the store: Apple''s appAccountToken, Google''s obfuscatedExternalAccountId.';
COMMENT ON COLUMN renewald.purchases.ownership IS 'purchased, family_shared or assigned.';
COMMENT ON COLUMN renewald.purchases.commitment_ends_at IS
    'Until when the buyer has committed to pay, period by period.';
COMMENT ON COLUMN renewald.purchases.access_reason IS 'The reason of its last grant or revoke.';

COMMENT ON VIEW renewald.offers IS 'Which offers a user may be shown, for each subscription group.';
COMMENT ON COLUMN renewald.offers.user_id IS 'The user, as submitted.';
COMMENT ON COLUMN renewald.offers.store IS 'apple, google or amazon.';
COMMENT ON COLUMN renewald.offers.app IS 'The bundle id or package name.';
COMMENT ON COLUMN renewald.offers.subscription_group IS 'The group of subscriptions that it is about.';
COMMENT ON COLUMN renewald.offers.introductory_eligible IS 'Whether they may have a trial or introductory offer.';
COMMENT ON COLUMN renewald.offers.promotional_eligible IS 'Whether they may have a promotional offer.';
COMMENT ON COLUMN renewald.offers.reason IS 'Why, in one word.';
COMMENT ON COLUMN renewald.offers.as_of IS 'What was known then.';

COMMENT ON VIEW renewald.held IS
    'Revocations that the breaker holds. Nobody has lost access by them; `renewald release` lets them go.';
COMMENT ON COLUMN renewald.held.id IS 'Of this row.';
COMMENT ON COLUMN renewald.held.held_at IS 'When it was decided and held.';
COMMENT ON COLUMN renewald.held.user_id IS 'Who would lose access.';
COMMENT ON COLUMN renewald.held.entitlement IS 'What they would lose.';
COMMENT ON COLUMN renewald.held.reason IS 'The reason that the revoke would have.';
COMMENT ON COLUMN renewald.held.purchase_id IS 'The purchase that it follows from.';
COMMENT ON COLUMN renewald.held.store IS 'apple, google or amazon.';
COMMENT ON COLUMN renewald.held.app IS 'The bundle id or package name.';
COMMENT ON COLUMN renewald.held.trip_id IS 'What was held since the breaker tripped the same time has the same number.';

COMMENT ON VIEW renewald.refund_requests IS
    'Stores'' questions about refunds and charge-backs. answer_refund() answers one; docs/refunds.md has more.';
COMMENT ON COLUMN renewald.refund_requests.id IS 'What answer_refund() takes.';
COMMENT ON COLUMN renewald.refund_requests.store IS 'apple or google.';
COMMENT ON COLUMN renewald.refund_requests.app IS 'The bundle id or package name.';
COMMENT ON COLUMN renewald.refund_requests.purchase_id IS 'Null while nobody has submitted the purchase.';
COMMENT ON COLUMN renewald.refund_requests.user_id IS 'Whose purchase it is; null while nobody has submitted it.';
COMMENT ON COLUMN renewald.refund_requests.order_id IS 'The order or transaction that is to be refunded.';
COMMENT ON COLUMN renewald.refund_requests.asked_at IS 'When the store asked.';
COMMENT ON COLUMN renewald.refund_requests.answer_by IS 'The store waits so long for an answer.';
COMMENT ON COLUMN renewald.refund_requests.reason IS 'The store''s own word.';
COMMENT ON COLUMN renewald.refund_requests.state IS 'open, answered, expired (nobody answered) or closed (decided).';
COMMENT ON COLUMN renewald.refund_requests.answer IS
    'What was or will be sent: grant, prorate, decline or neutral; null for none.';
COMMENT ON COLUMN renewald.refund_requests.answered_at IS 'When the app or the policy gave it; sent soon after.';
COMMENT ON COLUMN renewald.refund_requests.outcome IS 'refunded or declined; null while it is not known.';
COMMENT ON COLUMN renewald.refund_requests.problem IS 'What is wrong with sending the answer; null if nothing is.';

COMMENT ON VIEW renewald.unhandled_news IS 'Notifications of the stores that changed nothing here, by type.';
COMMENT ON COLUMN renewald.unhandled_news.source IS 'apple, pubsub or sqs.';
COMMENT ON COLUMN renewald.unhandled_news.type IS 'The store''s own name.';
COMMENT ON COLUMN renewald.unhandled_news.count IS 'How many there were.';
COMMENT ON COLUMN renewald.unhandled_news.first_seen_at IS 'When the first was read.';
COMMENT ON COLUMN renewald.unhandled_news.last_seen_at IS 'When the last was read.';
