extension DecisionTable {
    static let troubleWithPayment = Section(
        "Trouble with payment",
        "One notice when it begins, one event when it ends. Hold and billing retry are watched for "
            + "as long as the store may collect, and beyond (rule 7).",
        """
        # Grace: told once | active 30
        30+1h  grace 33           grace    granted  payment_pending        pro 33  6h15s
        31     grace 33           grace    granted  -                      pro 33  6h15s
        # Google's false renewal creeps for days (rule 4) | active 30
        30     grace 31           grace    granted  payment_pending        pro 31  6h15s
        31     grace 32           grace    granted  -                      pro 32  6h15s
        32     grace 33           grace    granted  -                      pro 33  6h15s
        33     grace 34           grace    granted  -                      pro 34  6h15s
        34     hold               hold     none     -payment_failed        -       12h
        # A day of grace: six looks, the last right after its end | active 30
        30     grace 31           grace    granted  payment_pending        pro 31  6h15s
        30+6h  grace 31           grace    granted  -                      pro 31  4h30m15s
        30+11h  grace 31           grace    granted  -                      pro 31  4h15s
        30+15h  grace 31           grace    granted  -                      pro 31  4h15s
        30+19h  grace 31           grace    granted  -                      pro 31  4h15s
        30+23h  grace 31           grace    granted  -                      pro 31  1h18s
        31+18s  grace 31           grace    granted  -                      pro 31  1m15s
        # A tester's grace is over in minutes: looked at more often | active 30 sandbox
        30     grace 30+5m sandbox    grace  granted  payment_pending      pro 30+5m  1m30s
        30+1m  grace 30+5m sandbox    grace  granted  -                    pro 30+5m  1m15s
        # A false renewal, then paid: recovered, not renewed | active 30
        30     grace 31           grace    granted  payment_pending        pro 31  6h15s
        31     grace 32           grace    granted  -                      pro 32  6h15s
        32     active 60          active   granted  payment_recovered      pro 60  7d
        59     active 90          active   granted  renewed                pro 90  7d
        # Trouble a second time is told a second time | grace 33
        32     active 60          active   granted  payment_recovered      pro 60  7d
        60     grace 61           grace    granted  payment_pending        pro 61  6h15s
        # Renewal turned off in grace | grace 33
        32     active 33 off period=p33  grace  granted  auto_renew_off    pro 33  6h15s
        33+1m  cancelled 33       expired  none     -cancelled             -       1d
        # Renewal turned off in a grace whose end had been moved, and nothing paid | active 30
        30     grace 31           grace    granted  payment_pending        pro 31  6h15s
        30+1h  active 31 off period=p30  grace  granted  auto_renew_off    pro 31  5h45m15s
        31+1m  unpaid 31          expired  none     -payment_failed        -       1d
        # Paid after all, and turned off at once: another period | grace 33
        32     active 60 off      active   granted  \
        payment_recovered auto_renew_off  pro 60  7d
        # Nothing is said of what was paid: trouble goes on | grace 33
        32     active             grace    granted  -                      pro 33  6h15s
        # What failed was an add-on, and is paid: the main product was paid all along \
        | active 60 addon=gold_month ends=30
        30+1h  grace 60 own product=pro_month+gold_month  grace  granted  payment_pending  \
        gold 60, pro 60  6h15s
        31     active 60 product=pro_month+gold_month  active  granted  payment_recovered  \
        gold 60, pro 60  7d
        # Turned off in grace where grace revokes: still not paid | grace 33 lapse=payment_pending \
        | policy grace=revoke
        32     active 33 off period=p33  grace  none  -                    -       6h15s
        32+1h  active 60          active   granted  +recovered             pro 60  7d
        # Grace has revoked, and the policy does not end access any more: nobody has paid \
        | grace 33 lapse=payment_pending
        31     grace 33 own       grace    granted  +manual                pro 33  6h15s
        # Its product gave nothing, and gives something again while it is in grace \
        | grace 33 lapse=product_changed
        31     grace 33 own       grace    granted  +product_changed       pro 33  6h15s
        # It was unverifiable, and is in grace again | grace 33 lapse=unverifiable
        31     grace 34 own       grace    granted  +restored              pro 34  6h15s
        # A trial whose payment failed is paid | grace 33 trial
        32     active 60          active   granted  payment_recovered trial_converted  pro 60  7d
        # A trial on hold is paid | hold 30 trial
        40     active 70          active   granted  trial_converted +recovered  pro 70  7d
        # Grace, then hold | grace 33
        33     hold               hold     none     -payment_failed        -       1m
        # Hold without grace, then paid | active 30
        30+1h  hold               hold     none     -payment_failed        -       7m30s
        31     hold               hold     none     -                      -       3h
        40     active 70          active   granted  +recovered             pro 70  7d
        # Paid on the fifty-ninth day | hold 30
        89     active 119         active   granted  +recovered             pro 119  7d
        # Hold, then given up: no second revoke | hold 30
        90     unpaid 30          expired  none     -                      -       7d
        # The user cancels on hold: no second revoke | hold 30
        40     cancelled 30       expired  none     -                      -       7d
        # Given up after hold, then bought again by the same token | hold 30
        90     unpaid 30          expired  none     -                      -       7d
        91     active 121         active   granted  +resubscribed          pro 121  7d
        # Hold beyond the sixty days of the store is still looked at | hold 30
        100    hold               hold     none     -                      -       7d
        # Grace, and given up | grace 33
        33+1m  unpaid 33          expired  none     -payment_failed        -       1d
        """)

    static let pause = Section(
        "Pause", "The user pauses at the end of a period, and comes back at a date.",
        """
        # Paused and resumed | active 30
        30+1m  paused 60          paused   none     -paused                -       7d
        40     paused 60          paused   none     -                      -       7d
        60+1m  active 90          active   granted  +resumed               pro 90  7d
        # A higher price was told before the pause: it is not told again after it | active 30
        20     active 30 signals=price_increase_pending  active  granted  \
        price_increase_pending  pro 30  7d
        30+1m  paused 60          paused   none     -paused                -       7d
        60+1m  active 90 signals=price_increase_pending  active  granted  +resumed  pro 90  7d
        # The payment fails when it should resume, and comes later | paused 30
        60     hold               hold     none     -                      -       12h
        62     active 92          active   granted  +recovered             pro 92  7d
        # Cancelled in the pause | paused 30
        40     cancelled 30       expired  none     -                      -       7d
        50     active 80          active   granted  +resubscribed          pro 80  7d
        # Paused without a date | active 30
        30+1m  paused             paused   none     -paused                -       1d
        """)

    static let refunds = Section(
        "Refunds",
        "A refund ends access even before the expiry (rule 5); a past period's does not, and a "
            + "reversed one grants again (rule 6).",
        """
        # Refunded in the middle of a period | active 30
        10     refunded 10        refunded  none    -refunded              -       1d
        11     refunded 10        refunded  none    -                      -       1d
        # The refund is reversed | refunded 30
        12     active 30          active   granted  +refund_reversed       pro 30  6h
        # Bought again after the refund by the same token | refunded 30
        12     active 42          active   granted  +resubscribed          pro 42  7d
        # The same, where the store does not name periods: the date tells \
        | refunded 30 amazon period=-
        40     active 70 period=-  active  granted  +resubscribed          pro 70  1d20h
        # A past period is refunded | active 60
        40     active 60 signals=refund_of_past_period  active  granted  refund_of_past_period  \
        pro 60  7d
        41     active 60 signals=refund_of_past_period  active  granted  -  pro 60  7d
        # Refunded, taken back, and refunded again: each is news | active 60
        40     refunded 40        refunded  none    -refunded              -       1d
        41     active 60          active   granted  +refund_reversed       pro 60  6h
        42     refunded 42        refunded  none    -refunded              -       1d
        42+1h  refunded 42        refunded  none    -                      -       1d
        # News of a refund that the answer does not show yet: looked for soon, then hourly, then no \
        more | active 30 order=1 void=1 heard=10
        10     active 30 order=1  active   granted  -                      pro 30  1m3s
        10+1m  active 30 order=1  active   granted  -                      pro 30  4m3s
        10+5m  active 30 order=1  active   granted  -                      pro 30  10m3s
        10+15m  active 30 order=1  active  granted  -                      pro 30  1h15s
        12+23h  active 30 order=1  active  granted  -                      pro 30  1h15s
        13     active 30 order=1  active   granted  -                      pro 30  7d
        # The same, and the answer shows it | active 30 order=1 void=1 heard=10
        10     active 30 order=1  active   granted  -                      pro 30  1m3s
        10+1m  refunded 10 order=1  refunded  none  -refunded              -       1d
        # The list of voids against a product that reads as bought: believed after three days, and not \
        taken back by the same answer | active product=lifetime order=1 void=1 heard=10
        10     active order=1     active   granted  -                      pro ever  1m3s
        12     active order=1     active   granted  -                      pro ever  1h15s
        13     active order=1     refunded  none    -refunded              -       1d
        14     active order=1     refunded  none    -                      -       1d
        70     active order=1     refunded  none    -                      -       7d
        # The same, and its order reads as paid too | active product=lifetime order=1 void=1 heard=10
        13     active order=1 order_paid  active  granted  -               pro ever  7d
        # The same, and the order tells later, as when the refund was reversed \
        | active product=lifetime order=1 void=1 heard=10
        13     active order=1     refunded  none    -refunded              -       1d
        14     active order=1 order_paid  active  granted  +refund_reversed  pro ever  6h
        15     active order=1     active   granted  -                      pro ever  7d
        # A void of another order says nothing of this one | active product=lifetime order=2 void=1 \
        heard=10
        13     active order=2     active   granted  -                      pro ever  7d
        # Apple signs its refunds: news alone is not believed | active product=lifetime order=1 void=1 \
        heard=10 apple
        13     active order=1     active   granted  -                      pro ever  7d
        # Refunded in grace | grace 33
        31     refunded 31        refunded  none    -refunded              -       1d
        # Refunded on hold: access had gone already, so it is a notice | hold 30
        40     refunded 40        refunded  none    refund_of_past_period  -       7d
        # Refunded after the period was over: a refund that ends no access is a notice \
        | expired 30
        40     refunded 40        refunded  none    refund_of_past_period  -       7d
        """)

    static let comingBack = Section(
        "Coming back", "What had lapsed and is in force again.",
        """
        # Expired, then bought again by the same token | expired 30
        50     active 80          active   granted  +resubscribed          pro 80  7d
        # Cancelled, then bought again by the same token | expired 30 lapse=cancelled off
        50     active 80          active   granted  +resubscribed          pro 80  7d
        # Expired, then bought again by a new token | expired 30 | B new
        50     B: active 80       active   granted  +resubscribed          B:pro 80  7d
        # Another product of another kind is a first purchase | expired 30 \
        | B new product=gold_month
        50     B: active 80       active   granted  +purchased:gold        B:gold 80  7d
        # Said not to exist, then found | invalid 30
        12     active 30          active   granted  +restored              pro 30  7d
        # Not verified for too long, then verified | active 30 lapse=unverifiable
        70     active 90          active   granted  +restored              pro 90  7d
        # Not verified for too long, then over, and bought anew | expired 30 lapse=unverifiable
        70     active 90          active   granted  +resubscribed          pro 90  7d
        # Never granted and called invalid, then found | invalid never
        12     active 30          active   granted  +purchased             pro 30  7d
        """)
}
