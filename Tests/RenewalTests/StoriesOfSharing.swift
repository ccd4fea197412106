extension DecisionTable {
    static let sharing = Section(
        "Handed in by two users, or in two forms",
        "A claimant whom the app has named to the store has it (`account=`), else `[policy] shared` "
            + "decides at the check. With `allow` each user gets a purchase of their own, which is "
            + "asked about by itself.",
        """
        # Kept by the first: told once | active 30 claimed
        10     active 30          active   granted  shared_receipt         pro 30  7d
        11     active 30          active   granted  -                      pro 30  7d
        # The store names the claimant: it goes there, whatever the policy | active 30 claimed
        10     active 30 account=bob  active  granted  -transferred bob+transferred  bob:pro 30  7d
        11     active 30 account=bob  active  granted  -                   bob:pro 30  7d
        # The same, and it gives nothing | expired 30 claimed
        40     ended 30 account=bob  expired  none  -                      -          7d
        41     active 71 account=bob  active  granted  bob+resubscribed    bob:pro 71  7d
        # The store names the first: it stays, whatever the policy | active 30 claimed \
        | policy shared=move
        10     active 30 account=user  active  granted  shared_receipt     pro 30  7d
        11     active 30          active   granted  -                      pro 30  7d
        # The store names somebody else: the policy decides | active 30 claimed
        10     active 30 account=cid  active  granted  shared_receipt      pro 30  7d
        # Allowed for both, whom the store names too | active 30 claimed | policy shared=allow
        10     active 30 account=bob  active  granted  -                   pro 30  7d
        # Gives the first nothing, and is bought anew after the claim: whoever claimed it has it \
        | expired 30 claimed claim=40
        45     active 75 bought=44  active  granted  bob+resubscribed      bob:pro 75  7d
        46     active 75 bought=44  active  granted  -                     bob:pro 75  7d
        # The first has it by leniency alone, and it is bought anew after the claim | active 30 off claimed \
        claim=30+1h | policy leniency=3d
        30+2h  cancelled 30       expired  granted  shared_receipt         pro 30  2d22h
        31     active 61 bought=30+3h  active  granted  \
        -transferred bobrenewed bobauto_renew_on bob+transferred  bob:pro 61  7d
        # Bought anew, and handed in by another right after it | expired 30 claimed claim=44+1m
        44+2m  active 74 bought=44  active  granted  bob+resubscribed      bob:pro 74  7d
        # It was over after the claim, so what is in force now was bought since \
        | refunded 30 claimed claim=40 checked=41
        45     active 75          active   granted  bob+resubscribed       bob:pro 75  7d
        # Bought anew before the claim: the first has it | expired 30 claimed claim=50
        51     active 75 bought=45  active  granted  shared_receipt +resubscribed  pro 75  7d
        # The same period again is nothing new | refunded 30 claimed claim=11 checked=12
        20     active 30          active   granted  shared_receipt +refund_reversed  pro 30  6h
        # A renewal of what is in force is not bought by the claimant | active 30 claimed claim=10
        30     active 60 bought=30  active  granted  shared_receipt renewed  pro 60  7d
        # What the store has collected at last is the first one's | hold 30 claimed claim=31 checked=32
        40     active 70 bought=40  active  granted  shared_receipt +recovered  pro 70  7d
        # Handed in by both before its first check | new claimed claim=1
        1+1m   active 30 bought=1  active  granted  shared_receipt +purchased  pro 30  7d
        # Moved to the latest | active 30 claimed | policy shared=move
        10     active 30          active   granted  -transferred bob+transferred  bob:pro 30  7d
        11     active 60          active   granted  bobrenewed             bob:pro 60  7d
        61     ended 60           expired  none     bob-expired            -       1d
        # Moved, and the first holds it through another | active 30 claimed | B active 60 \
        | policy shared=move
        10     active 30          active   granted  bob+transferred  B:pro 60, bob:pro 30  7d
        # Moved at first sight: nothing was taken from anybody | new claimed | policy shared=move
        10     active 30          active   granted  bob+purchased          bob:pro 30  7d
        # Moved, and over by the same answer: why it is over is told | active 30 claimed \
        | policy shared=move
        31     cancelled 30       expired  none     -cancelled             -       1d
        32     cancelled 30       expired  none     -                      -       2d
        40     active 70          active   granted  bob+resubscribed       bob:pro 70  7d
        # The store names the claimant, and it is over by the same answer: the first one loses it \
        | active 30 claimed
        30+1m  ended 30 account=bob  expired  none  -expired               -       1d
        40     active 71 account=bob  active  granted  bob+resubscribed    bob:pro 71  7d
        # Moved with a renewal | active 30 claimed | policy shared=move
        30     active 60          active   granted  -transferred bobrenewed bob+transferred  \
        bob:pro 60  7d
        # What has lapsed is not transferred when it comes back | expired 30 claimed \
        | policy shared=move
        40     active 70          active   granted  bob+resubscribed       bob:pro 70  7d
        # Nothing moves without a verdict | active 30 claimed | policy shared=move
        10     unreachable        active   granted  !unreachable           pro 30  8s
        10+1m  not_found          active   granted  !second_opinion        pro 30  6h6s
        10+5m  active 30          active   granted  -transferred bob+transferred  bob:pro 30  7d
        # A bundle moves whole | active 30 product=bundle claimed | policy shared=move
        10     active 30          active   granted  -transferred:gold -transferred \
        bob+transferred:gold bob+transferred  bob:gold 30, bob:pro 30  7d
        # A taken-over link does not move | superseded 30 claimed | policy shared=move
        10     active 30          superseded  none  -                      -       30d
        # Allowed for both: the first one's stays as it is | active 30 claimed | policy shared=allow
        10     active 30          active   granted  -                      pro 30  7d
        # Allowed for both, and a part is lost: that is the first one's to lose, and shared soon \
        | active 30 addon=gold_month ends=30 claimed | policy shared=allow
        10     active 30 part=cancelled  active  granted  -cancelled:gold  pro 30  1h
        # A legacy receipt is asked about by its transaction id from now on: told once | new apple
        1      active 30 next=1000 migrated  active  granted  migrated +purchased  pro 30  7d
        2      active 30 next=1000 migrated  active  granted  -            pro 30  7d
        # The store names a newer receipt: nothing to tell | active 30 apple
        10     active 30 next=newer  active  granted  -                    pro 30  7d
        """)

    static let durations = Section(
        "A configured duration that was changed",
        "It counts from the next check on, and the event says so (`detail.duration_changed`).",
        """
        # Longer now | active product=pass30 until=20
        10     active bought=0    active   granted  extended               pro 30  7d
        11     active bought=0    active   granted  -                      pro 30  7d
        # Shorter now, and still running: nothing is extended | active product=pass30 until=60
        10     active bought=0    active   granted  -                      pro 30  7d
        # Shorter now, and over by that | active product=pass30 until=60
        40     active bought=0    expired  none     -expired               -       7d
        # Longer now, and in force again by that | expired product=pass30 until=20
        25     active bought=0    active   granted  +manual                pro 30  5d18s
        # Until now for ever | active product=pass30
        10     active bought=0    active   granted  -                      pro 30  7d
        # For ever from now on | active product=season until=30
        10     active bought=0    active   granted  extended !unsupported  pro ever  7d
        """)
}
