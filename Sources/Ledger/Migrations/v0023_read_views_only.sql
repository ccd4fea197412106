-- The daemon's role reads the public views and writes none of them: they are the owner's, and through them it could change
-- what it may not change in the tables. No program did.
REVOKE INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER
    ON renewald.entitlements, renewald.events, renewald.offers, renewald.purchases
    FROM renewald_worker;
