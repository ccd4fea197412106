extension LifeCase {
    static let apple = read(
        "apple",
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
        billing retry without grace brings it back
            day 25: fail_payment
            day 45: fix_payment
            > grant monthly purchased
            > notice payment_pending
            > revoke monthly payment_failed
            > grant monthly recovered
            > notice renewed
        a refund ends it at once
            day 10: refund
            > grant monthly purchased
            > revoke monthly refunded
        a refund is reversed
            day 10: refund
            day 24: reverse_refund
            > grant monthly purchased
            > revoke monthly refunded
            > grant monthly refund_reversed
            > revoke monthly cancelled
        family sharing ends
            buy {"ownership":"family_shared"}
            day 15: revoke
            > grant monthly purchased
            > revoke monthly family_removed
        an upgrade takes effect at once
            day 12: change_product {"product":"gold"}
            > grant monthly purchased
            > grant gold product_changed
            > revoke monthly product_changed
            > notice renewed
            > notice renewed
        a downgrade waits for the renewal
            day 12: change_product {"product":"silver","when":"renewal"}
            > grant monthly purchased
            > notice product_change_scheduled
            > notice renewed
            > revoke monthly product_changed
            > grant silver product_changed
            > notice renewed
            > notice renewed
        a trial is paid for in the end
            buy {"trial":"P7D"}
            > grant monthly purchased
            > notice renewed
            > notice trial_converted
            > notice renewed
            > notice renewed
        a trial is cancelled
            buy {"trial":"P14D"}
            day 2: cancel
            > grant monthly purchased
            > notice auto_renew_off
            > revoke monthly cancelled
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
        a product is no longer sold
            day 5: withdraw
            > grant monthly purchased
            > revoke monthly product_unavailable
        a period is extended
            day 5: extend {"for":"P10D"}
            > grant monthly purchased
            > notice extended
            > notice renewed
            > notice renewed
        an introductory price is the first of many
            buy {"offer":{"kind":"introductory","discount":"pay_as_you_go","period":"P1M","cycles":1}}
            > grant monthly purchased
            > notice renewed
            > notice renewed
            > notice renewed
        a commitment is told when it is cancelled, and runs to its end
            buy {"plan":"commitment","payments":3}
            day 10: cancel
            > grant monthly purchased
            > notice auto_renew_off
            > notice renewed
            > notice renewed
            > revoke monthly cancelled
        a seat of five ends nothing, all five end it
            buy {"seats":5}
            day 5: refund_seats {"quantity":1}
            day 40: refund_seats {"quantity":4}
            > grant monthly purchased
            > notice refunded
            > notice renewed
            > revoke monthly refunded
        the original id changes
            day 5: migrate
            > grant monthly purchased
            > notice migrated
            > notice renewed
            > notice renewed
            > notice renewed
        a seat that was given is taken away
            buy {"ownership":"assigned"}
            day 15: revoke
            > grant monthly purchased
            > revoke monthly family_removed
        items are sold by names of their own
            buy {"skus":["gold","silver"]}
            day 15: refund_item {"product":"gold"}
            > grant gold purchased
            > grant silver purchased
            > revoke gold refunded
            > notice renewed
            > notice renewed
            > notice renewed
        a suite has a type that is not known
            buy {"type":"Suite Subscription"}
            > grant monthly purchased
            > notice renewed
            > notice renewed
            > notice renewed
        an app receipt moves to the server API
            hand in app
            > notice migrated
            > grant monthly purchased
            > notice renewed
            > notice renewed
            > notice renewed
        a transaction receipt moves to the server API
            hand in transaction
            day 10: cancel
            > notice migrated
            > grant monthly purchased
            > notice auto_renew_off
            > revoke monthly cancelled
        a closed account is believed the second time
            day 10: close_account
            > grant monthly purchased
            > revoke monthly invalid
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
