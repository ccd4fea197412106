extension DecisionTable {
    static let clocks = Section(
        "Clocks that differ",
        "Where bad news hangs on now, the earlier of the database's time and the store's own `Date` "
            + "counts (rule 12). `ahead` and `behind` are the database's clock, seen from the "
            + "store; `undated` is an answer that does not say its time and so proves no end.",
        """
        # Leniency runs by the store's clock | active 30 | policy leniency=1d
        31+30m  ended 30 ahead=60m     expired  granted  !clock                pro 30  30m
        31+61m  ended 30 ahead=60m     expired  none     -expired !clock       -       1d1m
        # Leniency, and the database is behind | active 30 | policy leniency=1d
        31-30m  ended 30 behind=60m    expired  granted  !clock                pro 30  30m
        31      ended 30 behind=60m    expired  none     -expired !clock       -       1d
        # A refunded period runs out by the store's clock | active 30 | policy refund=period_end
        25      refunded 25            refunded  granted  refunded             pro 30  5d
        30+30m  refunded 25 ahead=60m  refunded  granted  !clock               pro 30  30m
        30+61m  refunded 25 ahead=60m  refunded  none     -refunded !clock     -       1d
        # An answer that does not say its time ends no refunded period | active 30 \
        | policy refund=period_end
        25      refunded 25            refunded  granted  refunded             pro 30  5d
        40      refunded 25 undated    refunded  granted  !clock               pro 30  15m
        # A replaced link waits by the store's clock for what began by it | active 30
        10      replaced 10            active   granted  -                     pro 30  1h
        10+90m  replaced 10 ahead=60m  active   granted  !clock                pro 30  30m
        10+121m  replaced 10 ahead=60m  superseded  none  -product_changed !clock  -   1h
        # A configured duration ends by the earlier clock | new product=pass30
        2       active bought=2         active   granted  +purchased            pro 32  7d
        32+30m  active bought=2 ahead=60m  active  granted  !clock              pro 32  30m18s
        32+61m  active bought=2 ahead=60m  expired  none  -expired !clock       -       1d
        # No duration ends by our clock alone | new product=pass30
        2       active bought=2         active   granted  +purchased            pro 32  7d
        40      active bought=2 undated  active  granted  !clock                pro 32  6h
        # A period that runs by the store's clock is not left open, however far the database is ahead \
        | active 30 amazon vain=1 asked=34+23h
        35     active 30 ahead=8d      active   granted  !clock                pro 30  1d20h
        36     active 30 ahead=8d      active   granted  !clock                pro 30  1d20h
        # What the store says is over is over, whatever the clocks say | active 30
        10      ended 10 undated       expired  none     -expired              -       1d
        # A problem that is graver is told first | active 30
        10      mismatch ahead=60m     active   granted  !mismatch             pro 30  8s
        # Half a minute is no difference | active 30
        10      active 30 ahead=30s    active   granted  -                     pro 30  7d
        # A database that is behind makes nonsense of no answer | active 30
        10      active 30 stated=10+1h behind=60m  active  granted  !clock           pro 30  7d
        11      refunded 11 stated=11+1h behind=60m  refunded  none  -refunded !clock  -     1d
        # Older is older also where the database is behind | active 30
        10      active 30 stated=10+1h behind=60m  active  granted  !clock           pro 30  7d
        10+10m  ended 10 stated=10+30m behind=60m  active  granted  !clock           pro 30  8s
        # What no clock has come to is nonsense | active 30
        10      refunded 10 stated=10+2h behind=60m  active  granted  !malformed     pro 30  8s
        # What the store ends now is no announcement | active 30
        10      active 10+1s off       active   granted  -                     pro 10+1s  19s
        10+1m   refunded 10            refunded  none  -refunded              -       1d
        # Turned off two minutes before the end it is | active 30
        10      active 10+2m off       active   granted  auto_renew_off        pro 10+2m  2m18s
        # A store whose clock is years off is not believed | active 30 | policy refund=period_end
        25      refunded 25            refunded  granted  refunded             pro 30  5d
        40      refunded 25 ahead=900d  refunded  granted  !clock              pro 30  15m
        """)
}
