extension DecisionTable {
    static let choices = Section(
        "Choices of the operator",
        "`[policy]` of the configuration; the rows above have the defaults.",
        """
        # Grace revokes | active 30 | policy grace=revoke
        30+1h  grace 33 own       grace    none     -payment_pending       -       6h15s
        31     grace 33 own       grace    none     -                      -       6h15s
        32     active 60          active   granted  +recovered             pro 60  7d
        # Grace revokes, then hold: no second revoke | active 30 | policy grace=revoke
        30+1h  grace 33 own       grace    none     -payment_pending       -       6h15s
        33     hold               hold     none     -                      -       9h
        # Pending payment revokes Google's false renewal | active 30 | policy payment_pending=revoke
        30     grace 31           grace    none     -payment_pending       -       6h15s
        32     active 60          active   granted  +recovered             pro 60  7d
        # Pending payment keeps a grace that the store names | active 30 \
        | policy payment_pending=revoke
        30     grace 33 own       grace    granted  payment_pending        pro 33  6h15s
        # Leniency waits before expired revokes | active 30 | policy leniency=1d
        30+1m  ended 30           expired  granted  -                      pro 30  23h59m
        31     ended 30           expired  none     -expired               -       1d
        # Leniency waits before cancelled revokes | active 30 off | policy leniency=1d
        30+1m  cancelled 30       expired  granted  -                      pro 30  23h59m
        31     cancelled 30       expired  none     -cancelled             -       1d
        # Leniency does not wait for unpaid | active 30 | policy leniency=1d
        30+1m  unpaid 30          expired  none     -payment_failed        -       1d
        # Leniency does not wait for a refund | active 30 | policy leniency=1d
        10     refunded 10        refunded  none    -refunded              -       1d
        # Renewed while leniency ran: access was never lost | active 30 | policy leniency=1d
        30+1m  ended 30           expired  granted  -                      pro 30  23h59m
        30+2h  active 60          active   granted  renewed                pro 60  7d
        # A refund lets the period run out | active 30 | policy refund=period_end
        25     refunded 25        refunded  granted  refunded              pro 30  5d
        26     refunded 25        refunded  granted  -                     pro 30  4d
        30     refunded 25        refunded  none    -refunded              -       1d
        # The same, and the store only says that it is over then | active 30 | policy refund=period_end
        25     refunded 25        refunded  granted  refunded              pro 30  5d
        30+1m  ended 30           refunded  none    -refunded              -       1d
        # A refund of a year is looked at within the sweep, as it may be reversed | active 365 \
        | policy refund=period_end
        10     refunded 10        refunded  granted  refunded              pro 365  7d
        # A refund that is reversed before the period ran out | active 30 | policy refund=period_end
        25     refunded 25        refunded  granted  refunded              pro 30  5d
        26     active 30          active   granted  -                      pro 30  4d18s
        """)
}
