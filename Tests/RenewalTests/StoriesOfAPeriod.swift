extension DecisionTable {
    static let firstSight = Section(
        "First sight", "A purchase that has just been submitted.",
        """
        # Paid and in force
        1   active 30             active    granted  +purchased            pro 30  7d
        # In force, with auto-renew off already
        1   active 30 off         active    granted  +purchased            pro 30  7d
        # In grace already
        31  grace 33              grace     granted  payment_pending +purchased  pro 33  6h15s
        # On hold already: nothing is taken that was never given
        31  hold                  hold      none     -                     -       6h
        31+1h  active 61          active    granted  +purchased            pro 61  7d
        # Over already
        40  ended 30              expired   none     -                     -       7d
        # Refunded already | new created=10
        10  refunded 10           refunded  none     -                     -       1d
        # Not paid yet, then paid
        0+1h  pending             pending   none     -                     -       15m
        2   active 30             active    granted  +purchased            pro 30  7d
        # Not paid yet, then given up
        0+1h  pending             pending   none     -                     -       15m
        3   ended                 expired   none     -                     -       3d
        # A trial
        1   active 7 trial        active    granted  +purchased            pro 7   6d18s
        # A product that is not configured grants its own id
        1   active 30 product=plus  active  granted  +purchased:plus       plus 30  7d
        # A purchase with an add-on
        1   active 30 product=pro_month+gold_month  active  granted  +purchased:gold +purchased  \
        gold 30, pro 30  7d
        # Moved in while its payment failed: what comes back was not bought now | new imported
        31   hold                 hold      none     -                     -         6h
        33   active 60            active    granted  +recovered            pro 60    7d
        # Moved in during a pause | new imported
        31   paused 60            paused    none     -                     -         7d
        60   active 90            active    granted  +resumed              pro 90    7d
        # Moved in when it was over | new imported
        31   ended 30             expired   none     -                     -         1d
        50   active 80            active    granted  +resubscribed         pro 80    7d
        # Moved in when it had no paid time of its own, as Amazon shows it | new imported
        31   ended ends=30        expired   none     -                     -         1d
        50   active 80            active    granted  +resubscribed         pro 80    7d
        # Moved in when it was refunded, which is taken back | new imported product=lifetime
        31   refunded 20          refunded  none     -                     -         7d
        50   active               active    granted  +refund_reversed      pro ever  6h
        # Moved in unpaid, where that gives no access | new imported | policy grace=revoke
        31   grace 33             grace     none     -                     -         6h15s
        32   active 60            active    granted  +recovered            pro 60    7d
        # Moved in when nothing had been paid at last | new imported
        31   ended                expired   none     -                     -         7d
        50   active 80            active    granted  +purchased            pro 80    7d
        # Moved in before it was paid | new imported
        1    pending              pending   none     -                     -         6h
        2    active 30            active    granted  +purchased            pro 30    7d
        """)

    static let running = Section(
        "In force",
        "A renewal is another paid period, not a later date (rule 4). Access stays all the while.",
        """
        # Unchanged | active 30
        10  active 30             active  granted  -                       pro 30  7d
        # Renewed before the old period was over | active 30
        29  active 60             active  granted  renewed                 pro 60  7d
        # Renewed twice before it was looked at | active 30
        70  active 90             active  granted  renewed                 pro 90  7d
        # Renewed, where the store does not name periods | active 30 amazon period=-
        30  active 60 period=-    active  granted  renewed                 pro 60  1d20h
        # Extended: the same period ends later | active 30
        29  active 37 period=p30  active  granted  extended                pro 37  7d
        # A trial becomes paid | active 7 trial
        7   active 37             active  granted  renewed trial_converted  pro 37  7d
        # A trial that is over by our clock is not paid until the store says so | active 7 trial
        7+1h  active 7 trial      active  granted  -                      pro 7   30m
        7+2h  unpaid 7            expired  none    -payment_failed        -       1d
        # Renewal turned off, and on again | active 30
        10  active 30 off         active  granted  auto_renew_off          pro 30  7d
        11  active 30 off         active  granted  -                       pro 30  7d
        12  active 30             active  granted  auto_renew_on           pro 30  7d
        # Cancelled within a commitment: told at once, and paid to its end | active 90 commitment=360 owed
        70  active 90 off commitment=360 owed   active  granted  auto_renew_off  pro 90  7d
        90  active 120 off commitment=360 owed  active  granted  renewed    pro 120  7d
        330  active 360 off commitment=360 paid  active  granted  renewed   pro 360  7d
        360+1m  cancelled 360     expired  none   -cancelled               -       1d
        # Cancelled within a commitment, and taken back | active 90 off commitment=360 owed
        70  active 90 commitment=360 owed  active  granted  auto_renew_on   pro 90  7d
        # An answer without the commitment tells of the next period | active 90 off commitment=360 owed
        70  active 90             active  granted  -                       pro 90  7d
        90  active 120            active  granted  renewed                 pro 120  7d
        91  active 120 off commitment=360 owed  active  granted  -         pro 120  7d
        # A commitment of which nothing is said is over with its end | active 360 off commitment=360
        360  active 390           active  granted  renewed auto_renew_on   pro 390  7d
        # Paid at once from now on | active 90 off commitment=90
        90  active 450 plain      active  granted  renewed auto_renew_on   pro 450  7d
        # Payment fails within a commitment that was cancelled | active 90 off commitment=360 owed
        90  hold                  hold    none    -payment_failed          -       1m
        92  active 122 off commitment=360 owed  active  granted  +recovered  pro 122  7d
        # Over by our clock, but the store says in force: the store decides | active 30
        30+1h  active 30          active  granted  -                       pro 30  30m
        # Apple renews early: asked before the end, then right after it | active 30 apple
        29  active 30             active  granted  -                       pro 30  23h20m
        30-10m  active 30         active  granted  -                       pro 30  10m18s
        # Apple does not renew what is turned off: asked after the end only | active 30 off apple
        29  active 30 off         active  granted  -                       pro 30  1d18s
        # Amazon is swept more often than its rule of 72 hours asks | active 30 amazon
        1   active 30             active  granted  -                       pro 30  1d20h
        # A pause is planned: told once | active 30
        10  active 30 signals=pause_scheduled  active  granted  pause_scheduled  pro 30  7d
        11  active 30 signals=pause_scheduled  active  granted  -          pro 30  7d
        # A price increase waits for consent: told once, and again when there is another | active 30
        10  active 30 signals=price_increase_pending  active  granted  price_increase_pending  \
        pro 30  7d
        11  active 30 signals=price_increase_pending  active  granted  -   pro 30  7d
        12  active 30             active  granted  -                       pro 30  7d
        20  active 30 signals=price_increase_pending  active  granted  price_increase_pending  \
        pro 30  7d
        # Not acknowledged after a day: looked at more often | active 30
        2   active 30 signals=unacknowledged  active  granted  unacknowledged !unacknowledged  \
        pro 30  6h
        3   active 30 signals=unacknowledged  active  granted  !unacknowledged  pro 30  6h
        4   active 30             active  granted  -                       pro 30  7d
        # The token is near the end of its life | active 30
        20  active 30 signals=token_ending  active  granted  token_ending  pro 30  7d
        21  active 30 signals=token_ending  active  granted  -             pro 30  7d
        # Another user has handed in the same token: told once | active 30 claimed
        10  active 30             active  granted  shared_receipt          pro 30  7d
        11  active 30             active  granted  -                       pro 30  7d
        """)

    static let ending = Section(
        "The end of a period",
        "Who ended it tells the reason (rule 5). The store decides, not our clock (rule 3).",
        """
        # Over, and the store gives no cause | active 30
        30+1m  ended 30           expired  none  -expired                  -  1d
        31     ended 30           expired  none  -                         -  1d
        # Runs out after the user had turned renewal off | active 30
        10     active 30 off      active   granted  auto_renew_off         pro 30  7d
        30+1m  cancelled 30       expired  none  -cancelled                -  1d
        # The store gives up for want of payment | active 30
        30+1m  unpaid 30          expired  none  -payment_failed           -  1d
        # The user did not agree to a higher price | active 30
        30+1m  price_declined 30  expired  none  -price_increase_declined  -  1d
        # The product is no longer sold | active 30
        30+1m  unavailable 30     expired  none  -product_unavailable      -  1d
        # Family sharing ends, and begins again | active 30
        10     family_removed 10  revoked  none  -family_removed           -  1d
        12     active 30          active   granted  +resubscribed          pro 30  6h
        # Over before the day that was known, by a store that gives no day | active 30
        10     cancelled          expired  none  -cancelled                -  1d
        # An ended purchase is looked at less and less, then no more | expired 30
        40     ended 30           expired  none  -                         -  7d
        96     ended 30           expired  none  -                         -  never
        # Apple's original id may be subscribed to again after years | expired 30 apple
        96     ended 30           expired  none  -                         -  30d
        466    ended 30           expired  none  -                         -  30d
        496    active 526         active   granted  +resubscribed          pro 526  7d
        # Amazon gives another receipt then | expired 30 amazon
        96     ended 30           expired  none  -                         -  never
        # What was beside a subscription has leniency like it | active 30 addon=gold_month ends=30 \
        | policy leniency=3d
        30+1m  ended 30 part=expired   expired   granted  -                gold 30, pro 30  2d23h59m
        32   ended 30 part=expired     expired   granted  -                gold 30, pro 30  1d
        33+1m  ended 30 part=expired   expired   none  -expired:gold -expired  -            3d1m
        # What leaves a subscription has leniency | active 30 addon=gold_month ends=30 | policy leniency=3d
        30+1m  active 60 part=cancelled  active  granted  renewed          gold 30, pro 60  2d23h59m18s
        33+1m  active 60 part=cancelled  active  granted  -cancelled:gold  pro 60           7d
        # What leaves it, and the answer gives no reason | active 30 addon=gold_month ends=30 \
        | policy leniency=3d
        30+1m  active 60              active   granted  renewed            gold 30, pro 60  2d23h59m18s
        33+1m  active 60              active   granted  -expired:gold      pro 60           7d
        # What is given back beside a subscription has none | active 30 addon=gold_month ends=60 \
        | policy leniency=3d
        30+1m  active 60 part=refunded  active   granted  renewed -refunded:gold  pro 60    7d
        31   active 60 part=cancelled  active    granted  -                pro 60           7d
        # One part has run out when another is given back | active 30 addon=gold_month ends=60 \
        | policy refund=period_end
        10   active 30 part=refunded  active     granted  -                gold 60, pro 30  7d
        30+1m  active 60 part=gold_month:refunded,more:cancelled  active  granted  renewed  gold 60, pro 60  7d
        60+1m  active 90 part=gold_month:refunded,more:cancelled  active  granted  renewed -refunded:gold  pro 90  7d
        # Removed while nothing was paid, it was not given back | grace 33 paid=30 addon=gold_month ends=33 \
        | policy refund=period_end
        31   active 60 part=gold_month:cancelled:30  active  granted  payment_recovered -cancelled:gold  pro 60  7d
        # And it has leniency from where it was paid to | grace 33 paid=30 addon=gold_month ends=33 \
        | policy leniency=2d
        31   active 60 part=gold_month:cancelled:30  active  granted  payment_recovered  gold 30, pro 60  1d18s
        32+1m  active 60 part=gold_month:cancelled:30  active  granted  -cancelled:gold  pro 60  7d
        # What ran out before the rest keeps its own reason | active 30 addon=gold_month ends=29 \
        | policy leniency=3d
        29+1h  active 30 part=gold_month:cancelled:29  active  granted  -  gold 29, pro 30  23h18s
        30+1h  unpaid 30 part=gold_month:cancelled:29  expired  none  -cancelled:gold -payment_failed  -  1d
        # Renewed unseen, it has leniency from its own end | active 10 addon=gold_month ends=10 \
        | policy leniency=3d
        15   active 40 part=gold_month:cancelled:14  active  granted  renewed  gold 14, pro 40  2d18s
        # Renewed unseen, what ends with the rest ends for its reason | active 30 addon=gold_month ends=30
        61   unpaid 60 part=gold_month:expired:60  expired  none  -payment_failed:gold -payment_failed  -  1d
        # What has run out before is not given back with it | active 10 addon=gold_month ends=10
        11   refunded 11 product=pro_month  refunded  none  -expired:gold -refunded  -  1d
        # And what is shown as given back with it | active 30 addon=gold_month ends=30
        40   refunded 40 product=pro_month+gold_month  refunded  none  -refunded:gold -refunded  -  7d
        # What ends with the rest ends for its reason | active 30 addon=gold_month ends=30
        30+1h  unpaid 30 part=gold_month:expired:30  expired  none  -payment_failed:gold -payment_failed  -  1d
        # What was given back has no leniency after its end | active 30 addon=gold_month ends=40 \
        | policy refund=period_end leniency=3d
        10   active 30 part=refunded  active     granted  -                gold 40, pro 30  7d
        40+1m  active 60              active     granted  renewed -expired:gold  pro 60     7d
        # A part whose renewal was given back unseen has none | active 30 addon=gold_month ends=30 \
        | policy leniency=3d
        30+1h  active 60 part=refunded  active   granted  renewed -refunded:gold  pro 60    7d
        # Changed and given back unseen, and the refund is taken back | active 30 | policy refund=period_end
        10   refunded 10 product=gold_month ends=30  refunded  granted  refunded +product_changed:gold -product_changed  gold 30  7d
        12   active 30 product=gold_month  active  granted  -  gold 30       7d
        # A refund gives nothing that was not held | active 30 | policy refund=period_end
        10   refunded 10 product=pro_month+gold_month ends=30  refunded  granted  refunded  pro 30  7d
        """)

    static let otherKinds = Section(
        "Other kinds of product",
        "Non-consumables last for ever, non-renewing ones for the configured duration; a consumable "
            + "never is an entitlement.",
        """
        # A pass of which no answer says when it was bought | new product=pass30
        2      active kind=non_renewing  active    granted  +purchased        pro 32    7d
        20     active kind=non_renewing  active    granted  -                 pro 32    7d
        32+1m  active kind=non_renewing  expired   none     -expired          -         1d
        # The same, sold with another | new product=pass30+hat
        2      active kind=non_consumable product=pass30+hat  active  granted  +purchased:hat +purchased  hat ever, pro 32  7d
        32+1m  active kind=non_consumable product=pass30+hat  active  granted  -expired  hat ever  7d
        50     active kind=non_consumable product=pass30+hat  active  granted  -  hat ever  7d
        # Bought once for ever | new product=lifetime
        1    active               active    granted  +purchased            pro ever  7d
        400  active               active    granted  -                     pro ever  7d
        # Listed without a kind: what the store says that it is | new product=memories
        1    active kind=non_consumable  active  granted  +purchased       pro ever  7d
        # Listed without a kind, and it renews | new product=memories
        1    active 30            active    granted  +purchased            pro 30    7d
        # Of a certain duration, and none is configured | new product=season
        1    active               active    granted  +purchased !unsupported  pro ever  7d
        9    active               active    granted  !unsupported          pro ever  7d
        # Bought once for ever, refunded, and the refund taken back | active product=lifetime created=20
        20   refunded 20          refunded  none  -refunded                -         1d
        21   active               active    granted  +refund_reversed      pro ever  6h
        # Bought once for ever and refunded a year later: watched, as it may be reversed \
        | active product=lifetime
        400  refunded 400         refunded  none  -refunded                -         1d
        # The same where the store does not say when: counted from when it was seen first \
        | active product=lifetime
        400  refunded             refunded  none  -refunded                -         1d
        420  refunded             refunded  none  -                        -         7d
        464  refunded             refunded  none  -                        -         7d
        466  refunded             refunded  none  -                        -         never
        # A free week sold at zero ends by itself | new product=free_week
        1    active bought=1      active    granted  +purchased            pro 8     7d
        8+1s  active bought=1     expired   none  -expired                 -         1d
        # A pass of thirty days | new product=pass30
        2    active bought=2      active    granted  +purchased            pro 32    7d
        10   active bought=2      active    granted  -                     pro 32    7d
        32+1s  active bought=2    expired   none  -expired                 -         1d
        # A pass of thirty days, and leniency | active product=pass30 until=30 | policy leniency=3d
        30+1s  active bought=0    expired   granted  -                     pro 30    2d23h59m59s
        33+1s  active bought=0    expired   none  -expired                 -         3d1s
        # A pass that is first seen when it is over has no leniency | new product=pass30 \
        | policy leniency=3d
        31   active bought=0      expired   none  -                        -         1d
        # A pass beside what lasts for ever, and leniency | new product=pass30 | policy leniency=3d
        2    active bought=2 kind=non_consumable product=pass30+skin  active  granted  +purchased +purchased:skin  pro 32, skin ever  7d
        32+1s  active bought=2 kind=non_consumable product=pass30+skin  active  granted  -  pro 32, skin ever  3d17s
        35+1s  active bought=2 kind=non_consumable product=pass30+skin  active  granted  -expired  skin ever  7d
        # A pass and what lasts for ever, bought at once: each has its own end | new product=pass30
        2    active bought=2 kind=non_consumable product=pass30+skin  active  granted  +purchased +purchased:skin  pro 32, skin ever  7d
        31   active bought=2 kind=non_consumable product=pass30+skin  active  granted  -  pro 32, skin ever  1d18s
        32+1s  active bought=2 kind=non_consumable product=pass30+skin  active  granted  -expired  skin ever  7d
        # The same the other way round, and first seen when the pass was over | new product=skin
        60   active bought=2 kind=non_consumable product=skin+pass30  active  granted  +purchased:skin  skin ever  7d
        # Coins and a pass | new product=coins
        2    active bought=2 kind=consumable product=coins+pass30  active  granted  +purchased  pro 32  7d
        32+1s  active bought=2 kind=consumable product=coins+pass30  expired  none  -expired  -  1d
        # Coins and what lasts for ever, which is given back | new product=coins
        2    active bought=2 kind=consumable product=coins+lifetime  active  granted  +purchased  pro ever  7d
        9    active bought=2 kind=consumable part=refunded  active  none  -refunded  -  7d
        # What is left when a part has run out is given back, and comes back | new product=pass30
        2    active bought=2 order=1 kind=non_consumable product=pass30+skin  active  granted  +purchased +purchased:skin  pro 32, skin ever  7d
        33   active bought=2 order=1 kind=non_consumable product=pass30+skin  active  granted  -expired  skin ever  7d
        36   active bought=2 order=1 part=refunded  refunded  none  -refunded:skin  -  4d
        37   active bought=2 order=1 part=refunded  refunded  none  -  -  5d
        38   active bought=2 order=1 kind=non_consumable product=pass30+skin  active  granted  +refund_reversed:skin  skin ever  6h
        # An answer that only stands in for the right one takes no part | new product=pass30
        2    active bought=2 order=1 kind=non_consumable product=pass30+skin  active  granted  +purchased +purchased:skin  pro 32, skin ever  7d
        10   active bought=2 kind=non_consumable product=pass30+hat substitute  active  granted  +product_changed:hat  hat ever, pro 32, skin ever  7d
        # All of it is given back, and refunds run out | new product=pass30 | policy refund=period_end
        2    active bought=2 order=1 kind=non_consumable product=pass30+skin  active  granted  +purchased +purchased:skin  pro 32, skin ever  7d
        9    refunded bought=2 order=1 kind=non_consumable product=pass30+skin  refunded  granted  refunded -refunded:skin  pro 32  7d
        10   refunded bought=2 order=1 kind=non_consumable product=pass30+skin  refunded  granted  -  pro 32  7d
        32+1s  refunded bought=2 order=1 kind=non_consumable product=pass30+skin  refunded  none  -refunded  -  1d
        # Each of several passes runs out by itself | new product=pass30 | policy refund=period_end
        2    active bought=2 order=1 kind=non_consumable product=pass30+pass60  active  granted  +purchased:extra +purchased  extra 62, pro 32  7d
        9    refunded bought=2 order=1 kind=non_consumable product=pass30+pass60  refunded  granted  refunded  extra 62, pro 32  7d
        32+1s  refunded bought=2 order=1 kind=non_consumable product=pass30+pass60  refunded  granted  -refunded  extra 62  7d
        62+1s  refunded bought=2 order=1 kind=non_consumable product=pass30+pass60  refunded  none  -refunded:extra  -  1d
        # A part that is given back outlasts the rest | new product=pass30 | policy refund=period_end
        2    active bought=2 order=1 kind=non_consumable product=pass30+pass60  active  granted  +purchased:extra +purchased  extra 62, pro 32  7d
        20   active bought=2 order=1 product=pass30 part=refunded in_part  active  granted  refunded  extra 62, pro 32  7d
        32+1s  active bought=2 order=1 product=pass30 part=refunded  refunded  granted  -expired  extra 62  7d
        40   active bought=2 order=1 product=pass30 part=refunded  refunded  granted  -  extra 62  7d
        62+1s  active bought=2 order=1 product=pass30 part=refunded  refunded  none  -refunded:extra  -  1d
        # A part that is given back when the rest is over | new product=pass30 | policy refund=period_end
        2    active bought=2 order=1 kind=non_consumable product=pass30+pass60  active  granted  +purchased:extra +purchased  extra 62, pro 32  7d
        32+1s  active bought=2 order=1 kind=non_consumable product=pass30+pass60  active  granted  -expired  extra 62  7d
        40   active bought=2 order=1 product=pass30 part=refunded in_part  refunded  granted  refunded  extra 62  7d
        62+1s  active bought=2 order=1 product=pass30 part=refunded  refunded  none  -refunded:extra  -  1d
        # A part that is given back gives the same as the rest | new product=pass30 | policy refund=period_end
        2    active bought=2 order=1 kind=non_consumable product=pass30+long60  active  granted  +purchased  pro 62  7d
        20   active bought=2 order=1 product=pass30 part=refunded in_part  active  granted  refunded  pro 62  7d
        32+1s  active bought=2 order=1 product=pass30 part=refunded  refunded  granted  -  pro 62  7d
        62+1s  active bought=2 order=1 product=pass30 part=refunded  refunded  none  -refunded  -  1d
        # What lasts for ever is given back when the rest is over | new product=pass30 | policy refund=period_end
        2    active bought=2 order=1 kind=non_consumable product=pass30+skin  active  granted  +purchased +purchased:skin  pro 32, skin ever  7d
        32+1s  active bought=2 order=1 kind=non_consumable product=pass30+skin  active  granted  -expired  skin ever  7d
        45   active bought=2 order=1 product=pass30 part=refunded  refunded  none  -refunded:skin  -  7d
        # What lasts for ever is given back while leniency runs | new product=pass30 | policy leniency=3d
        2    active bought=2 order=1 kind=non_consumable product=pass30+skin  active  granted  +purchased +purchased:skin  pro 32, skin ever  7d
        33   active bought=2 order=1 product=pass30 part=refunded  expired  granted  -refunded:skin  pro 32  2d
        35+1s  active bought=2 order=1 product=pass30 part=refunded  expired  none  -expired  -  3d1s
        # A part that was given back runs out with the rest | new product=pass30 | policy refund=period_end
        2    active bought=2 order=1 kind=non_consumable product=pass30+free30  active  granted  +purchased:free30 +purchased  free30 32, pro 32  7d
        20   active bought=2 order=1 product=pass30 part=refunded in_part  active  granted  refunded  free30 32, pro 32  7d
        32+1s  active bought=2 order=1 product=pass30 part=refunded  expired  none  -refunded:free30 -expired  -  1d
        # A part that comes back moves no configured end | new product=pass30
        2    active bought=2 order=1 kind=non_consumable product=pass30+pass60  active  granted  +purchased:extra +purchased  extra 62, pro 32  7d
        20   active bought=2 order=1 product=pass30 part=refunded  active  granted  -refunded:extra  pro 32  7d
        25   active bought=2 order=1 kind=non_consumable product=pass30+pass60  active  granted  +product_changed:extra  extra 62, pro 32  7d
        # Two parts that give the same: the longer one counts | new product=pass30
        2    active bought=2 kind=non_consumable product=pass30+lifetime  active  granted  +purchased  pro ever  7d
        32+1s  active bought=2 kind=non_consumable product=pass30+lifetime  active  granted  -  pro ever  7d
        # Coins and what lasts for ever: given back, looked at again, and back | new product=coins
        2    active bought=2 order=1 kind=consumable product=coins+lifetime  active  granted  +purchased  pro ever  7d
        9    active bought=2 order=1 kind=consumable part=refunded  active  none  -refunded  -  7d
        10   active bought=2 order=1 kind=consumable part=refunded  active  none  -  -  7d
        11   active bought=2 order=1 kind=consumable product=coins+lifetime  active  granted  +refund_reversed  pro ever  7d
        # A pass for which no duration is configured | new product=pass
        2    active               active    granted  +purchased !unsupported  pro ever  7d
        400  active               active    granted  !unsupported         pro ever  7d
        401  refunded 401         refunded  none  -refunded               -         1d
        # A pass of thirty days is refunded | active 30 product=pass30
        10   refunded 10          refunded  none  -refunded                -         1d
        # A refunded pass runs out as well | active product=pass30 until=30 \
        | policy refund=period_end
        10     refunded 10 bought=0  refunded  granted  refunded           pro 30  7d
        30     refunded 10 bought=0  refunded  none  -refunded             -       1d
        # The same, and nothing says any more when it was bought | active product=pass30 until=30 \
        | policy refund=period_end
        10     refunded 10        refunded  granted  refunded              pro 30  7d
        11     refunded 10        refunded  granted  -                     pro 30  7d
        30     refunded 10        refunded  none    -refunded              -       1d
        31     refunded 10        refunded  none    -                      -       1d
        # The refund of a pass is reversed before it ran out | active product=pass30 until=30 \
        | policy refund=period_end
        10     refunded 10 bought=0  refunded  granted  refunded           pro 30  7d
        11     active bought=0    active   granted  -                      pro 30  7d
        # What lasts for ever has no end to run to | active product=lifetime \
        | policy refund=period_end
        10     refunded 10        refunded  none    -refunded              -       1d
        # A consumable gives nothing, even where entitlements are configured | new product=coins
        1    active               active    none  -                        -         7d
        # What lasts for ever is no consumable all of a sudden: an answer about something else \
        | active product=unlisted
        10   active kind=consumable  active  granted  !mismatch            unlisted ever  8s
        # The refund of a consumable is a notice, once | active product=coins created=5
        5    refunded 5           refunded  none  refunded                 -         1d
        6    refunded 5           refunded  none  -                        -         1d
        """)
}
