"""What Google's pages describe and its client's description of the API does not have yet.

In the form of that description. A schema with `union` has exactly one of its members.
<https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.subscriptionsv2>
<https://developers.google.com/android-publisher/api-ref/rest/v3/orders>
"""

TEXT = {"type": "string"}


def ref(name):
    return {"$ref": name}


# Members of schemas that the client knows.
MEMBERS = {
    "SubscriptionPurchaseV2": {
        "etag": TEXT,
        "inGracePeriodStateContext": ref("InGracePeriodStateContext"),
        "onHoldStateContext": ref("OnHoldStateContext"),
        "outOfAppPurchaseContext": ref("OutOfAppPurchaseContext"),
    },
    "SubscriptionPurchaseLineItem": {
        "deferredItemRemoval": ref("DeferredItemRemoval"),
        "itemReplacement": ref("ItemReplacement"),
        "latestSuccessfulOrderId": TEXT,
        "offerPhase": ref("OfferPhase"),
    },
    "Order": {
        "salesChannel": {
            "type": "string",
            "enum": ["IN_APP", "PC_EMULATOR", "NATIVE_PC", "PLAY_STORE", "OUTSIDE_PLAY_STORE"],
        },
    },
    "SubscriptionDetails": {"offerPhaseDetails": ref("OfferPhaseDetails")},
}

# Schemas that it does not know.
SCHEMAS = {
    "InGracePeriodStateContext": {"renewalDeclined": ref("RenewalDeclined")},
    "OnHoldStateContext": {"renewalDeclined": ref("RenewalDeclined")},
    "RenewalDeclined": {"pendingOrderId": TEXT},
    "OutOfAppPurchaseContext": {
        "expiredPurchaseToken": TEXT,
        "expiredExternalAccountIdentifiers": ref("ExternalAccountIdentifiers"),
    },
    "DeferredItemRemoval": {},
    "ItemReplacement": {
        "productId": TEXT,
        "basePlanId": TEXT,
        "offerId": TEXT,
        "replacementMode": {
            "type": "string",
            "enum": [
                "WITH_TIME_PRORATION",
                "CHARGE_PRORATED_PRICE",
                "WITHOUT_PRORATION",
                "CHARGE_FULL_PRICE",
                "DEFERRED",
                "KEEP_EXISTING",
            ],
        },
    },
    "OfferPhase": {
        "basePrice": ref("Nothing"),
        "freeTrial": ref("Nothing"),
        "introductoryPrice": ref("Nothing"),
        "prorationPeriod": ref("ProrationPeriod"),
    },
    "OfferPhaseDetails": {
        "baseDetails": ref("Nothing"),
        "freeTrialDetails": ref("Nothing"),
        "introductoryPriceDetails": ref("Nothing"),
        "prorationPeriodDetails": ref("ProrationPeriod"),
    },
    "ProrationPeriod": {
        "originalOfferPhaseType": {"type": "string", "enum": ["BASE", "INTRODUCTORY", "FREE_TRIAL"]}
    },
    "Nothing": {},
}

UNIONS = {"OfferPhase", "OfferPhaseDetails"}


def add_to(schemas):
    """Adds what is missing. What the client knows by now is its own.

    Gives the places that were added, such as `Order.salesChannel`.
    """
    added = set()
    for name, members in SCHEMAS.items():
        schemas.setdefault(name, {"properties": members, "union": name in UNIONS})
    for name, members in MEMBERS.items():
        for member, kind in members.items():
            if schemas[name]["properties"].setdefault(member, kind) is kind:
                added.add(f"{name}.{member}")
    return added
