extension LifeCase {
    static let google = read(
        "google",
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
        a cancellation is taken back
            day 3: cancel
            day 15: uncancel
            > grant monthly purchased
            > notice auto_renew_off
            > notice auto_renew_on
            > notice renewed
            > notice renewed
            > notice renewed
        an expiry moved unpaid is no renewal
            buy {"grace":"P6D"}
            day 25: fail_payment
            day 33: fix_payment
            > grant monthly purchased
            > notice payment_pending
            > notice payment_recovered
            > notice renewed
            > notice renewed
        a hold brings it back
            buy {"grace":"P6D","hold":"P30D"}
            day 25: fail_payment
            day 45: fix_payment
            > grant monthly purchased
            > notice payment_pending
            > revoke monthly payment_failed
            > grant monthly recovered
            > notice renewed
        a hold runs out
            buy {"grace":"P6D","hold":"P30D"}
            day 25: fail_payment
            > grant monthly purchased
            > notice payment_pending
            > revoke monthly payment_failed
        a pause begins and ends
            day 10: pause {"for":"P1M"}
            > grant monthly purchased
            > revoke monthly paused
            > grant monthly resumed
            > notice renewed
        a pause is ended early
            day 10: pause {"for":"P2M"}
            day 45: resume
            > grant monthly purchased
            > revoke monthly paused
            > grant monthly resumed
            > notice renewed
        a revocation ends it at once
            day 10: revoke
            > grant monthly purchased
            > revoke monthly refunded
        a charge-back ends it at once
            day 10: charge_back
            > grant monthly purchased
            > revoke monthly refunded
        a pending purchase is paid
            buy {"pending":true}
            day 2: complete
            > grant monthly purchased
            > notice renewed
            > notice renewed
            > notice renewed
        a pending purchase is never paid
            buy {"pending":true}
            day 2: abandon
        an upgrade takes over
            day 12: change_product {"product":"gold"}
            day 12: submit
            > grant monthly purchased
            > grant gold product_changed
            > revoke monthly product_changed
            > notice renewed
            > notice renewed
            > notice renewed
        an upgrade is not handed in
            day 12: change_product {"product":"gold"}
            > grant monthly purchased
            > revoke monthly product_changed
        a trial is paid for in the end
            buy {"trial":"P7D"}
            > grant monthly purchased
            > notice renewed
            > notice trial_converted
            > notice renewed
            > notice renewed
        a prepaid plan runs out
            buy {"plan":"prepaid"}
            > grant monthly purchased
            > revoke monthly expired
        a prepaid plan is topped up
            buy {"plan":"prepaid"}
            day 20: top_up
            day 20: submit
            > grant monthly purchased
            > revoke monthly expired
        instalments are paid
            buy {"plan":"installments","payments":12}
            > grant monthly purchased
            > notice renewed
            > notice renewed
            > notice renewed
        instalments are paid to their end, though cancelled
            buy {"plan":"installments","payments":3}
            day 10: cancel
            > grant monthly purchased
            > notice auto_renew_off
            > notice renewed
            > notice renewed
            > revoke monthly cancelled
        a period is extended
            day 5: extend {"for":"P10D"}
            > grant monthly purchased
            > notice extended
            > notice renewed
            > notice renewed
        an add-on comes and goes
            day 10: add_item {"product":"maps"}
            day 40: revoke_item {"product":"maps"}
            > grant monthly purchased
            > grant maps product_changed
            > notice renewed
            > revoke maps refunded
            > notice renewed
            > notice renewed
        a higher price is agreed to
            day 5: ask_price
            day 20: accept_price
            > grant monthly purchased
            > notice price_increase_pending
            > notice renewed
            > notice renewed
            > notice renewed
        a higher price is declined
            day 5: ask_price
            > grant monthly purchased
            > notice price_increase_pending
            > revoke monthly price_increase_declined
        nobody acknowledges it
            buy {"acknowledged":false}
            > grant monthly purchased
            > notice unacknowledged
            > revoke monthly refunded
        a closed account is believed the second time
            day 10: close_account
            > grant monthly purchased
            > revoke monthly invalid
        somebody subscribes again
            day 5: cancel
            day 40: resubscribe
            day 40: submit
            day 40: acknowledge
            > grant monthly purchased
            > notice auto_renew_off
            > revoke monthly cancelled
            > grant monthly resubscribed
            > notice renewed
        a pass of thirty days runs out
            product pass30
            buy {"kind":"non_renewing"}
            > grant pass30 purchased
            > revoke pass30 expired
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
