"""Google's own client with its bundled description of the API, and inapppy on top of another."""

import inapppy.googleplay
import oauth2client.crypt
from google.oauth2 import service_account
from googleapiclient.discovery import build
from googleapiclient.errors import HttpError
from inapppy import GooglePlayVerifier

import google_documented
from stage import DAY, milliseconds, now

SCOPE = "https://www.googleapis.com/auth/androidpublisher"
STATES = {
    "silent": "ACTIVE",
    "grace": "IN_GRACE_PERIOD",
    "hold": "ON_HOLD",
    "paused": "PAUSED",
    "pending": "PENDING",
    "abandoned": "PENDING_PURCHASE_CANCELED",
}
GIVING_ACCESS = ("ACTIVE", "CANCELED", "IN_GRACE_PERIOD")
TYPES = {"string": str, "integer": int, "boolean": bool, "number": (int, float)}


class Google:
    def __init__(self, simulator, count):
        self.simulator, self.count = simulator, count
        self.endpoint = {"api_endpoint": simulator.told["google_base_url"]}
        self.key = simulator.told["google_service_account"]
        credentials = service_account.Credentials.from_service_account_file(
            self.key, scopes=[SCOPE]
        )
        self.service = self.build(credentials)
        self.schemas = self.service._schema.schemas
        self.documented = google_documented.add_to(self.schemas)
        self.played = set()

    def build(self, credentials):
        return build(
            "androidpublisher",
            "v3",
            credentials=credentials,
            client_options=self.endpoint,
            static_discovery=True,
        )

    def run(self):
        self.count.client = "google-api-python-client"
        for purchase in self.simulator.truth("google"):
            self.compare(purchase)
        self.voided()
        self.sales()
        self.writes()
        self.resubscribed()
        self.errors()
        self.count.client = "Google's pages"
        for place in sorted(self.documented):
            self.count.case(f"{place} is played", place in self.played, True)
        self.count.client = "inapppy, Google"
        self.inapppy()

    def agrees(self, what, schema, answer):
        """Compares the members and their types with the client's description of the API."""
        strange = set(self.strange(schema, answer, schema))
        self.count.case(f"{what} members of {schema}", sorted(strange), [])

    def strange(self, schema, value, path):
        known = self.schemas[schema].get("properties", {})
        if self.schemas[schema].get("union") and len(value) != 1:
            yield f"{path} has {len(value)} of its members"
        for name, inner in value.items():
            self.played.add(f"{schema}.{name}")
            place = f"{path}.{name}"
            if name in known:
                yield from self.strange_value(known[name], inner, place)
            else:
                yield place

    def strange_value(self, known, value, place):
        if "$ref" in known:
            if isinstance(value, dict):
                yield from self.strange(known["$ref"], value, place)
            else:
                yield f"{place} is no object"
        elif known["type"] == "array":
            for one in value:
                yield from self.strange_value(known["items"], one, place)
        elif not isinstance(value, TYPES[known["type"]]):
            yield f"{place} is no {known['type']}"
        elif value not in known.get("enum", [value]):
            yield f"{place} is {value}"

    def named(self, purchase):
        return {"packageName": purchase["app"], "token": purchase["token"]}

    def get(self, purchase):
        return self.service.purchases().subscriptionsv2().get(**self.named(purchase)).execute()

    def product(self, described):
        charges = described["charges"]
        return charges[-1]["product"] if charges else described["product"]

    def is_one_time(self, described):
        return any(charge["end"] > "9000" for charge in described["charges"])

    def is_long_over(self, described):
        charges = described["charges"]
        if described["state"] in ("refunded", "revoked", "replaced"):
            return True
        return bool(charges) and milliseconds(charges[-1]["end"]) < now() - 59 * DAY

    def compare(self, purchase):
        name, described = f"google {purchase['id']}", self.simulator.describe(purchase)
        if self.is_one_time(described):
            answer = (
                self.service.purchases()
                .products()
                .get(productId=purchase["product"], **self.named(purchase))
                .execute()
            )
            self.agrees(name, "ProductPurchase", answer)
            if purchase["product"] == "lifetime":
                self.count.case(
                    f"{name} entitled", answer.get("purchaseState", 0) == 0, purchase["entitled"]
                )
            return
        try:
            answer = self.get(purchase)
        except HttpError as error:
            # Sixty days after its end a subscription is no longer told.
            self.count.case(f"{name} is gone", error.status_code, 410)
            self.count.case(f"{name} has ended", purchase["entitled"], False)
            self.count.case(f"{name} ended long ago", self.is_long_over(described), True)
            return
        self.agrees(name, "SubscriptionPurchaseV2", answer)
        state = answer["subscriptionState"].removeprefix("SUBSCRIPTION_STATE_")
        if purchase["state"] == "active":
            expected = "ACTIVE" if described["auto_renews"] else "CANCELED"
        else:
            expected = STATES.get(purchase["state"], "EXPIRED")
        self.count.case(f"{name} {purchase['state']}", state, expected)
        item = answer["lineItems"][0]
        if expected not in ("PENDING", "PENDING_PURCHASE_CANCELED"):
            ends = milliseconds(item["expiryTime"])
            access = state in GIVING_ACCESS and ends > now()
            # The silent day: the paid time has ended, the state has not.
            if purchase["state"] != "silent":
                self.count.case(f"{name} entitled", access, purchase["entitled"])
        self.count.case(f"{name} product", item["productId"], self.product(described))
        old = (
            self.service.purchases()
            .subscriptions()
            .get(subscriptionId=item["productId"], **self.named(purchase))
            .execute()
        )
        self.agrees(name, "SubscriptionPurchase", old)
        if "orderId" in old:
            order = (
                self.service.orders()
                .get(packageName=purchase["app"], orderId=old["orderId"])
                .execute()
            )
            self.agrees(name, "Order", order)
            self.count.case(f"{name} order", order["purchaseToken"], purchase["token"])

    def voided(self):
        voided, page = [], None
        while True:
            answer = (
                self.service.purchases()
                .voidedpurchases()
                .list(packageName=self.simulator.app, type=1, token=page, maxResults=50)
                .execute()
            )
            voided += answer.get("voidedPurchases", [])
            self.agrees("voided", "VoidedPurchasesListResponse", answer)
            page = answer.get("tokenPagination", {}).get("nextPageToken")
            if not page:
                break
        tokens = {one["purchaseToken"] for one in voided}
        for purchase in self.simulator.truth("google"):
            if purchase["token"] in tokens:
                charges = self.simulator.describe(purchase)["charges"]
                given_back = any(charge["given_back"] for charge in charges)
                self.count.case(f"google {purchase['id']} voided", given_back, True)

    def sales(self):
        """What is told of a sale, and of a refund of a part of it."""
        simulator = self.simulator
        one = simulator.buy(
            "google",
            user="u-7",
            country="AT",
            price="12.5",
            currency="CHF",
            base_plan="yearly",
            offer_tags=["winter"],
            profile="p-2",
            linked_account="l-3",
        )
        simulator.control("POST", f"/purchases/{one['id']}/cancel", reason=3, comment="too dear")
        answer = self.get(one)
        self.agrees("sale", "SubscriptionPurchaseV2", answer)
        item, plan = answer["lineItems"][0], answer["lineItems"][0]["autoRenewingPlan"]
        price = {"currencyCode": "CHF", "units": "12", "nanos": 500_000_000}
        self.count.case("sale price", plan["recurringPrice"], price)
        self.count.case("sale plan", item["offerDetails"]["basePlanId"], "yearly")
        self.count.case("sale tags", item["offerDetails"]["offerTags"], ["winter"])
        self.count.case("sale region", answer["regionCode"], "AT")
        canceled = answer["canceledStateContext"]["userInitiatedCancellation"]
        survey = {"reason": "CANCEL_SURVEY_REASON_COST_RELATED", "reasonUserInput": "too dear"}
        self.count.case("sale survey", canceled["cancelSurveyResult"], survey)
        simulator.control("POST", f"/purchases/{one['id']}/refund_share", share=0.25)
        order = (
            self.service.orders()
            .get(packageName=one["app"], orderId=item["latestSuccessfulOrderId"])
            .execute()
        )
        self.agrees("part", "Order", order)
        part = order["orderHistory"]["partialRefundEvents"][0]["refundDetails"]["total"]
        found = (order["state"], part["units"], part["nanos"])
        self.count.case("part", found, ("PARTIALLY_REFUNDED", "3", 125_000_000))
        addon = simulator.buy("google", add_ons=["maps"])
        simulator.control("POST", f"/purchases/{addon['id']}/remove_item", product="maps")
        self.agrees("removal", "SubscriptionPurchaseV2", self.get(addon))

    def writes(self):
        simulator, purchases = self.simulator, self.service.purchases()
        one = simulator.buy("google", acknowledged=False)
        named = {"subscriptionId": one["product"], **self.named(one)}
        purchases.subscriptions().acknowledge(body={}, **named).execute()
        self.count.case("acknowledged", simulator.describe(one)["acknowledged"], True)
        state = self.get(one)["acknowledgementState"]
        self.count.case("acknowledged, as told", state, "ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED")
        purchases.subscriptions().cancel(**named).execute()
        self.count.case("cancelled", simulator.describe(one)["auto_renews"], False)
        body = {"revocationContext": {"fullRefund": {}}}
        purchases.subscriptionsv2().revoke(body=body, **self.named(one)).execute()
        self.count.case("revoked", simulator.describe(one)["entitled"], False)

    def resubscribed(self):
        """Bought again in Google Play itself: whose it was is told until the app has noticed."""
        simulator = self.simulator
        old = simulator.buy("google")
        simulator.control("POST", f"/purchases/{old['id']}/revoke")
        new = simulator.buy("google", resubscribes=old["id"])
        answer = self.get(new)
        self.agrees("bought again", "SubscriptionPurchaseV2", answer)
        expired = answer["outOfAppPurchaseContext"]["expiredPurchaseToken"]
        self.count.case("bought again after", expired, old["token"])

    def refused(self, what, call, status, reason=None):
        try:
            call()
            self.count.case(what, "an answer", status)
        except HttpError as error:
            details = error.error_details
            found = details[0].get("reason") if isinstance(details, list) and details else None
            self.count.case(what, (error.status_code, found if reason else None), (status, reason))

    def errors(self):
        simulator = self.simulator
        one = simulator.buy("google")
        ask = lambda: self.get(one)
        self.refused("no such token", lambda: self.get({**one, "token": "a" * 150}), 404)
        self.refused("no such app", lambda: self.get({**one, "app": "com.example.none"}), 404)
        table = [
            ("status", {"status": 503}, 503, "backendError"),
            ("throttle", {}, 429, "rateLimitExceeded"),
            ("quota_exhausted", {}, 403, "rateLimitExceeded"),
            ("not_found", {}, 404, "purchaseTokenNotFound"),
            ("gone", {}, 410, "subscriptionPurchaseNoLongerAvailable"),
        ]
        for kind, more, status, reason in table:
            with simulator.fails(kind, store="google", **more):
                self.refused(f"fault {kind}", ask, status, reason)
        with simulator.fails("gone_once", store="google"):
            self.refused("fault gone_once", ask, 410, "subscriptionPurchaseNoLongerAvailable")
            self.count.case("after gone_once", ask()["kind"] != "", True)
        # The client asks for a new access token and tries again, so one 401 goes unseen.
        with simulator.fails("unauthorized", store="google", count=1):
            self.count.case("after one 401", ask()["regionCode"] != "", True)
        for kind in ("cut", "reset"):
            with simulator.fails(kind, store="google"):
                self.raises(f"fault {kind}", ask)
        # What is no JSON, this client hands out as text.
        for kind in ("html", "truncated", "garbled"):
            with simulator.fails(kind, store="google"):
                self.count.case(f"fault {kind}", isinstance(ask(), dict), False)
        with simulator.fails("token_down"):
            fresh = self.build(
                service_account.Credentials.from_service_account_file(self.key, scopes=[SCOPE])
            )
            named = self.named(one)
            self.raises(
                "fault token_down",
                lambda: fresh.purchases().subscriptionsv2().get(**named).execute(),
            )
        wrong = service_account.Credentials.from_service_account_file(
            self.key, scopes=["https://www.googleapis.com/auth/drive"]
        )
        named = self.named(one)
        self.raises(
            "another scope",
            lambda: self.build(wrong).purchases().subscriptionsv2().get(**named).execute(),
        )

    def raises(self, what, call):
        try:
            call()
            self.count.case(what, "an answer", "an exception")
        except Exception:  # Which one is the client's affair.
            self.count.case(what, "an exception", "an exception")

    def inapppy(self):
        # Its signer for OpenSSL needs a function that OpenSSL's package no longer has.
        oauth2client.crypt.Signer = oauth2client.crypt.RsaSigner
        inapppy.googleplay.build = lambda name, version, http: build(
            name, version, http=http, client_options=self.endpoint, static_discovery=True
        )
        verifier = GooglePlayVerifier(self.simulator.app, self.key)
        compared = 0
        for purchase in self.simulator.truth("google"):
            described = self.simulator.describe(purchase)
            if compared == 60 or purchase["state"] in ("pending", "abandoned"):
                continue
            is_subscription = not self.is_one_time(described)
            name = f"google {purchase['id']} {purchase['state']}"
            product = self.product(described)
            if not is_subscription and product != "lifetime":
                continue
            try:
                result = verifier.verify_with_result(purchase["token"], product, is_subscription)
            except HttpError as error:
                self.count.case(name, (error.status_code, purchase["entitled"]), (410, False))
                continue
            compared += 1
            if not is_subscription:
                self.count.case(name, not result.is_canceled, purchase["entitled"])
            elif purchase["state"] in ("active", "grace"):
                self.count.case(name, result.is_expired, False)
            elif purchase["state"] != "silent":
                self.count.case(name, result.is_expired, True)
        with self.simulator.fails("status", store="google", status=503):
            one = self.simulator.buy("google")
            self.raises(
                "fault status", lambda: verifier.verify(one["token"], one["product"], True)
            )
