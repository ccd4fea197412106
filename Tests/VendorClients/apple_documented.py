"""What Apple's pages describe and its own library, at 1.21, does not know: decoded without it.

<https://developer.apple.com/documentation/appstoreserverapi/jwstransactiondecodedpayload>
<https://developer.apple.com/documentation/appstoreserverapi/transactionmultiseatinfo>
<https://developer.apple.com/documentation/appstoreserverapi/transactioncommitmentinfo>
"""

import base64
import json

import attr
from appstoreserverlibrary.api_client import GetTransactionHistoryVersion
from appstoreserverlibrary.models.JWSRenewalInfoDecodedPayload import JWSRenewalInfoDecodedPayload
from appstoreserverlibrary.models.JWSTransactionDecodedPayload import JWSTransactionDecodedPayload
from appstoreserverlibrary.models.TransactionHistoryRequest import TransactionHistoryRequest

KNOWN = {
    "transaction": set(attr.fields_dict(JWSTransactionDecodedPayload)),
    "renewal": set(attr.fields_dict(JWSRenewalInfoDecodedPayload)),
}
# Members that the library does not know, with the shape of their values.
MEMBERS = {
    "transaction": {
        "additionalTransactionReason": {"SEAT_ADDITION"},
        "multiSeatInfo": {
            "invitationManagement": {"APPLE", "DEVELOPER"},
            "priceTiers": [{"price": int, "quantity": int}],
            "revokedSeatQuantity": int,
        },
        "previousOriginalTransactionId": str,
    },
    "renewal": {},
}
# Values of members that it knows: how to play one, the part, the member, the value.
VALUES = [
    ({"ownership": "assigned"}, "inAppOwnershipType", "ASSIGNED"),
    ({"type": "Suite Subscription"}, "type", "Suite Subscription"),
    ({"offer": {"kind": "retention"}}, "offerType", 5),
    ({"offer": {"discount": "one_time"}}, "offerDiscountType", "ONE_TIME"),
]


def payload(signed):
    """What a JWS says, whoever has signed it."""
    text = signed.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))


def misshapen(shape, value, place):
    """Where a value is not as the pages have it."""
    if isinstance(shape, dict):
        for name, inner in value.items():
            if name in shape:
                yield from misshapen(shape[name], inner, f"{place}.{name}")
            else:
                yield f"{place}.{name}"
    elif isinstance(shape, list):
        for one in value:
            yield from misshapen(shape[0], one, place)
    elif isinstance(shape, set):
        if value not in shape:
            yield f"{place} is {value}"
    elif not isinstance(value, shape):
        yield f"{place} is no {shape.__name__}"


class AppleDocumented:
    def __init__(self, apple):
        self.simulator, self.count = apple.simulator, apple.count
        self.client = apple.clients["production"]
        self.played = set()

    def run(self):
        seats = self.simulator.buy("apple", seats=5)
        self.simulator.control("POST", f"/purchases/{seats['id']}/refund_seats", quantity=2)
        self.simulator.control("POST", f"/purchases/{seats['id']}/add_seats", quantity=3)
        moved = self.simulator.buy("apple")
        self.simulator.control("POST", f"/purchases/{moved['id']}/migrate")
        committed = self.simulator.buy("apple", plan="commitment")
        for purchase in (seats, moved, committed):
            self.agrees(purchase)
        for terms, member, value in VALUES:
            purchase = self.simulator.buy("apple", **terms)
            told = self.agrees(purchase)
            self.count.case(f"documented {member}", told.get(member), value)
        for member in sorted(MEMBERS["transaction"]):
            self.count.case(f"transaction.{member} is played", member in self.played, True)

    def agrees(self, purchase):
        """Compares all that is told of a subscription; gives its latest transaction."""
        answer = self.client.get_all_subscription_statuses(purchase["token"])
        (last,) = [one for group in answer.data for one in group.lastTransactions]
        history = self.client.get_transaction_history(
            purchase["token"], None, TransactionHistoryRequest(), GetTransactionHistoryVersion.V2
        )
        for signed in [last.signedTransactionInfo, *history.signedTransactions]:
            self.check("transaction", purchase, payload(signed))
        self.check("renewal", purchase, payload(last.signedRenewalInfo))
        return payload(last.signedTransactionInfo)

    def check(self, part, purchase, told):
        known, documented = KNOWN[part], MEMBERS[part]
        strange = [f"{part}.{name}" for name in told if name not in known | set(documented)]
        for name in documented.keys() & told.keys():
            self.played.add(name)
            strange += misshapen(documented[name], told[name], f"{part}.{name}")
        self.count.case(f"documented {purchase['id']} {part}", sorted(strange), [])
