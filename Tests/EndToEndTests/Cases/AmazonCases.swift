extension LifeCase {
    static let amazon = read(
        "amazon",
        """
        a subscription renews
            > grant monthly purchased
            > notice renewed
            > notice renewed
            > notice renewed
        a cancelled subscription runs out
            day 10: cancel
            > grant monthly purchased
            > notice auto_renew_off
            > revoke monthly cancelled
        a failed payment is mended within the grace
            buy {"grace":"P6D"}
            day 25: fail_payment
            day 33: fix_payment
            > grant monthly purchased
            > notice payment_pending
            > notice payment_recovered
            > notice renewed
            > notice renewed
        a failed payment outlasts the grace
            buy {"grace":"P6D"}
            day 25: fail_payment
            > grant monthly purchased
            > notice payment_pending
            > revoke monthly payment_failed
        a refund ends it at once
            day 10: refund
            > grant monthly purchased
            > revoke monthly refunded
        what nobody fulfils is warned of, and Amazon takes it back
            buy {"acknowledged":false}
            > grant monthly purchased
            > notice unacknowledged
            > revoke monthly refunded
        a trial is paid for in the end
            buy {"trial":"P7D"}
            > grant monthly purchased
            > notice renewed
            > notice trial_converted
            > notice renewed
            > notice renewed
        a closed account is believed the second time
            day 10: close_account
            > grant monthly purchased
            > revoke monthly cancelled
        a book is for ever
            product book
            buy {"kind":"non_consumable"}
            > grant book purchased
        a book is given back
            product book
            buy {"kind":"non_consumable"}
            day 20: refund
            > grant book purchased
            > revoke book refunded
        coins are no entitlement
            product coins
            buy {"kind":"consumable"}
            day 20: refund
            > notice refunded
        """)
}
