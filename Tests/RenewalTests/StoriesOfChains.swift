extension DecisionTable {
    static let chains = Section(
        "Chains",
        "Upgrades, re-sign-ups and linked tokens move access in one step (rule 8): the new link is "
            + "B, and its answer names A.",
        """
        # Another product of the same entitlement, in the same purchase | active 30
        10     active 375 product=pro_year  active  granted  -             pro 375  7d
        # Another product of another entitlement, in the same purchase | active 30
        10     active 40 product=gold_month  active  granted  \
        +product_changed:gold -product_changed  gold 40  7d
        # A product that gives more, in the same purchase | active 30
        10     active 40 product=bundle  active  granted  +product_changed:gold  \
        gold 40, pro 40  7d
        # A product that gives less, in the same purchase | active 30 product=bundle
        10     active 40 product=gold_month  active  granted  -product_changed  gold 40  7d
        # An add-on that was removed has run out: for its own reason | active 30 addon=gold_month ends=20
        20     active 30 part=cancelled  active  granted  -cancelled:gold     pro 30    7d
        # An add-on is gone at its end, and nothing is said of it | active 30 addon=gold_month ends=20
        20     active 30          active   granted  -expired:gold          pro 30    7d
        # An add-on is gone before its end | active 30 addon=gold_month ends=20
        10     active 30          active   granted  -product_changed:gold  pro 30    7d
        # A planned change takes effect with the renewal | active 30
        10     active 30 signals=product_change_scheduled  active  granted  \
        product_change_scheduled  pro 30  7d
        30     active 60 product=gold_month  active  granted  \
        renewed +product_changed:gold -product_changed  gold 60  7d
        # The new link takes over the same entitlement: nothing is told | active 30 | B new
        10     B: active 40 after-A  active  granted  -                    B:pro 40  7d
        10+1h  active 30          superseded  none  -                      B:pro 40  30d
        # The new link is another user's: access moves in one step | active 30 | B new bobs
        10     B: active 40 after-A  active  granted  -transferred bob+transferred  bob:B:pro 40  7d
        10+1h  active 30          superseded  none  -                      bob:B:pro 40  30d
        # The same, and it gives something else | active 30 | B new bobs product=gold_month
        10     B: active 40 after-A  active  granted  -product_changed bob+product_changed:gold  \
        bob:B:gold 40  7d
        # The same, and it gives less | active 30 product=bundle | B new bobs
        10     B: active 40 after-A  active  granted  \
        -product_changed:gold -transferred bob+transferred  bob:B:pro 40  7d
        # Another user's new link of what has lapsed: nothing is taken | expired 30 | B new bobs
        50     B: active 80 after-A  active  granted  bob+resubscribed     bob:B:pro 80  7d
        # Another user's pending link takes nothing over | active 30 | B new bobs
        10     B: pending after-A  pending  none    -                      pro 30   1d
        # The older link is handed in late and still reads active: it gives nothing | new | B new
        10     B: active 40 after-A  active  granted  +purchased           B:pro 40  7d
        10+5m  active 30          superseded  none  -                      B:pro 40  30d
        11     active 60          superseded  none  -                      B:pro 40  never
        # The same, and the newer link is another user's | new | B new bobs
        10     B: active 40 after-A  active  granted  bob+purchased        bob:B:pro 40  7d
        10+5m  active 30          superseded  none  -                      bob:B:pro 40  30d
        # The older link comes late, and the newer one has ended since | new | B new
        10     B: active 40 after-A  active  granted  +purchased           B:pro 40  7d
        41     B: ended 40        expired  none     -expired               -        1d
        41+1h  active 60          superseded  none  -                      -        30d
        # A change that was never paid for leaves the older link alone | new | B new
        10     B: pending after-A  pending  none    -                      -        1d
        11     active 30          active   granted  +purchased             pro 30   7d
        # The new link gives another entitlement | active 30 | B new product=gold_month
        10     B: active 40 after-A  active  granted  +product_changed:gold -product_changed  \
        B:gold 40  7d
        # The new link gives more | active 30 | B new product=bundle
        10     B: active 40 after-A  active  granted  +product_changed:gold  \
        B:gold 40, B:pro 40  7d
        # A pending link takes nothing over | active 30 | B new
        10     B: pending after-A  pending  none    -                      pro 30   1d
        # A new link of a lapsed one is a return, not a change of product | expired 30 | B new
        50     B: active 80 after-A  active  granted  +resubscribed        B:pro 80  7d
        # A new link whose older link nobody has handed in: the same product was held before, and was \
        replaced | superseded 10 | B new
        13     B: active 90       active   granted  +resubscribed          B:pro 90  7d
        # Bought again on hold by a linked token | hold 30 | B new
        50     B: active 80 after-A  active  granted  +resubscribed        B:pro 80  7d
        # A new link of one that never was paid is a first purchase | pending never | B new
        2      B: active 30 after-A  active  granted  +purchased           B:pro 30  7d
        # Nothing is announced for a replaced link, whose answer may be old | superseded 30 \
        | B active 40
        11     active 30 signals=product_change_scheduled  superseded  none  -  B:pro 40  30d
        # The replaced link cannot revoke its successor | superseded 30 | B active 40
        11     ended 11           superseded  none  -                      B:pro 40  30d
        # A superseded link never grants again by the period that was replaced | superseded 30
        11     active 30          superseded  none  -                      -         30d
        # It does by another one, which its store says to be in force | superseded 30
        12     active 60          active   granted  +resubscribed          pro 60    7d
        # Not beside a live successor | superseded 30 | B active 40
        12     active 60          superseded  none  -                      B:pro 40  7d
        # But when that is over | superseded 30 | B expired 40
        42     active 72          active   granted  +resubscribed          pro 72    7d
        # A superseded link that the store forgets stays superseded | superseded 30
        11     gone               superseded  none  -                      -         6h6s
        11+7h  gone               superseded  none  -                      -         never
        12     active 30          superseded  none  -                      -         30d
        # Replaced, and the successor is not submitted | active 30
        10     replaced 10        active   granted  -                      pro 30    1h
        10+30m  replaced 10       active   granted  -                      pro 30    30m
        10+1h  replaced 10        superseded  none  -product_changed       -         1h
        10+4h  replaced 10        superseded  none  -                      -         2h
        10+5h  active 40          active   granted  +resubscribed          pro 40    7d
        # Replaced by the word of a store that gives no time: the wait ends as well \
        | active 30 apple
        10     replaced           active   granted  -                      pro 30    1h
        10+1h  replaced           expired  none     -product_changed       -         3h
        10+4h  replaced           expired  none     -                      -         3h
        10+7h  active 375 product=pro_year  active  granted  +product_changed  pro 375  7d
        # Replaced long before anybody was asked: what comes with it takes over | active 30 | B new
        15     replaced 10        active   granted  -                      pro 30    1h
        15+1m  B: active 40 after-A  active  granted  -                    B:pro 40  7d
        # Replaced, and what was submitted after it cannot be asked about | active 30 | B new
        10     replaced 10        active   granted  -                      pro 30    1h
        10+1h  replaced 10        active   granted  -                      pro 30    1h
        10+1h  B: unreachable     new      none     !unreachable           pro 30    8s
        12     replaced 10        active   granted  -                      pro 30    1h
        12+1h  B: active 40 after-A  active  granted  -                    B:pro 40  7d
        # Replaced, and its store does not accept what was submitted after it | active 30 | B new
        10     replaced 10        active   granted  -                      pro 30    1h
        10+2m  B: rejected        new      none     !rejected              pro 30    10m6s
        10+15m  B: rejected       invalid  none     rejected !rejected     pro 30    1d15m
        10+5h  replaced 10        active   granted  -                      pro 30    1h
        10+6h  replaced 10        superseded  none  -product_changed       -         3h
        # Replaced by what waited for its payment, and was paid: it is waited for | active 30 | B new
        9      B: pending after-A  pending  none    -                      pro 30    1d
        10+2h  replaced 10        active   granted  -                      pro 30    1h
        10+9h  replaced 10        active   granted  -                      pro 30    1h
        10+9h  B: active 40 after-A  active  granted  -                    B:pro 40  7d
        # The same, for a day with its spread, which nothing that is paid waits unasked | active 30 \
        | B new
        9      B: pending after-A  pending  none    -                      pro 30    1d
        10+2h  replaced 10        active   granted  -                      pro 30    1h
        11+4h  replaced 10        active   granted  -                      pro 30    1h
        11+5h  replaced 10        superseded  none  -product_changed       -         14h30m
        # What waits for its payment and is sold once is no successor | active 30 | B new product=lifetime
        9      B: pending         pending  none     -                      pro 30    1d
        10+2h  replaced 10        superseded  none  -product_changed       -         1h
        # Replaced, and the successor comes in time | active 30 | B new
        10     replaced 10        active   granted  -                      pro 30    1h
        10+5m  B: active 40 after-A  active  granted  -                    B:pro 40  7d
        10+1h  replaced 10        superseded  none  -                      B:pro 40  1h
        # Replaced, and the successor comes too late: the chain had granted before | superseded 30 \
        | B new
        11     B: active 40 after-A  active  granted  +product_changed     B:pro 40  7d
        # Replaced at first sight: nothing was given
        10     replaced 10        superseded  none  -                      -         1h
        10+6h  active 40          active   granted  +purchased             pro 40    7d
        """)

    static let severalPurchases = Section(
        "Several purchases",
        "An entitlement is held while any purchase that grants it is in force (rule 10).",
        """
        # A second purchase of the same entitlement | active 30 | B new product=pro_year
        10     B: active 375      active   granted  -                      B:pro 375  7d
        # A sandbox purchase beside one that lasts as long: production holds it \
        | active 30 sandbox | B active 30
        10     active 30 sandbox  active   granted  -                      B:pro 30  7d
        # One of two is refunded, which ends no access; then the other falls | active 30 \
        | B active 60 product=pro_year
        10     B: refunded 10     refunded  none    refunded               pro 30    1d
        11     B: refunded 10     refunded  none    -                      pro 30    1d
        30+1m  ended 30           expired  none     -expired               -         1d
        # The store forgets one of two, and the other holds it | active 30 \
        | B active 60 product=pro_year
        10     gone               active   granted  !second_opinion       B:pro 60  6h6s
        10+7h  gone               invalid  none     !not_found            B:pro 60  1d15m
        # The store has forgotten an old one, and it is bought again by a new token | expired 30 \
        | B new
        91     gone               expired  none     -                     -         6h6s
        91+7h  gone               expired  none     -                     -         never
        92     B: active 122      active   granted  +resubscribed         B:pro 122  7d
        # The longer one stays | active 30 | B active 60 product=pro_year
        30+1m  ended 30           expired  none     -                      B:pro 60  1d
        # The shorter one renews beyond the longer | active 30 | B active 40 product=pro_year
        29     active 60          active   granted  renewed                pro 60    7d
        # One for ever outlasts a subscription | active 30 | B active product=lifetime
        30+1m  ended 30           expired  none     -                      B:pro ever  1d
        # Two entitlements, one falls | active 30 | B active 60 product=gold_month
        10     refunded 10        refunded  none    -refunded              B:gold 60  1d
        # A bundle falls beside a subscription of one part | active 30 product=bundle | B active 60
        10     refunded 10        refunded  none    -refunded:gold         B:pro 60  1d
        # One of two is refunded at first sight: it has given nothing | active 30 \
        | B new product=pro_year
        10     B: refunded 10     refunded  none    -                      pro 30    1d
        # One of two is refunded in its last paid period, and runs out | active 30 \
        | B active 60 product=pro_year | policy refund=period_end
        10     B: refunded 10     refunded  granted  refunded              B:pro 60  7d
        60+1m  B: refunded 10     refunded  none    -                      pro 30    1d
        """)
}
