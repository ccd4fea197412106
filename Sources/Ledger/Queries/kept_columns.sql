-- Part of statements: what was heard of a purchase last, and for which version of it that counts, as its row has it.
purchase.heard, purchase.heard_version, purchase.predecessor_token, purchase.predecessor_sealed,
    purchase.predecessor_sealed_for
