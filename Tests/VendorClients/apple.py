"""Apple's own client and verifier, and inapppy for legacy receipts."""

from appstoreserverlibrary.api_client import (
    APIException,
    AppStoreServerAPIClient,
    GetTransactionHistoryVersion,
)
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.models.NotificationHistoryRequest import NotificationHistoryRequest
from appstoreserverlibrary.models.TransactionHistoryRequest import TransactionHistoryRequest
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier, VerificationException
from inapppy import AppStoreValidator
from inapppy.errors import InAppPyValidationError

from apple_desk import AppleDesk
from apple_documented import AppleDocumented
from stage import DAY, now

ENVIRONMENTS = {"production": Environment.PRODUCTION, "sandbox": Environment.SANDBOX}
STATUSES = {"active": 1, "silent": 1, "grace": 4, "hold": 3, "refunded": 5, "revoked": 5}


class Apple:
    def __init__(self, simulator, count):
        self.simulator, self.count = simulator, count
        told = simulator.told
        bases = {"production": "apple_base_url", "sandbox": "apple_sandbox_base_url"}
        self.clients, self.verifiers = {}, {}
        for name, environment in ENVIRONMENTS.items():
            self.clients[name] = self.client(told[bases[name]], environment)
            self.verifiers[name] = self.verifier(environment)

    def client(self, base, environment, **other):
        told = self.simulator.told
        client = AppStoreServerAPIClient(
            self.simulator.read("apple.p8"),
            other.get("key_id", told["apple_key_id"]),
            told["apple_issuer_id"],
            other.get("bundle", self.simulator.app),
            environment,
        )
        client._base_url = base
        return client

    def verifier(self, environment, **other):
        return SignedDataVerifier(
            [self.simulator.read("apple-root.der")],
            False,
            environment,
            other.get("bundle", self.simulator.app),
            int(self.simulator.told["apple_app_id"]),
        )

    def run(self):
        self.count.client = "app-store-server-library"
        for purchase in self.simulator.truth("apple"):
            self.compare(purchase)
        self.errors()
        self.signatures()
        self.notifications()
        self.news()
        AppleDesk(self).run()
        self.count.client = "Apple's pages"
        AppleDocumented(self).run()
        self.count.client = "inapppy, receipts"
        self.receipts()

    def compare(self, purchase):
        name, token = f"apple {purchase['id']}", purchase["token"]
        environment = purchase["environment"]
        client, verifier = self.clients[environment], self.verifiers[environment]
        described = self.simulator.describe(purchase)
        charges = described["charges"]
        info = client.get_transaction_info(token)
        decoded = verifier.verify_and_decode_signed_transaction(info.signedTransactionInfo)
        self.count.case(f"{name} original id", decoded.originalTransactionId, token)
        self.count.case(f"{name} app", decoded.bundleId, purchase["app"])
        request = TransactionHistoryRequest()
        signed, revision = [], None
        while True:
            page = client.get_transaction_history(
                token, revision, request, GetTransactionHistoryVersion.V2
            )
            signed += page.signedTransactions
            revision = page.revision
            if not page.hasMore:
                break
        history = [verifier.verify_and_decode_signed_transaction(text) for text in signed]
        finished = [one for one in history if one.type is None or one.type.name != "CONSUMABLE"]
        if decoded.type.name != "CONSUMABLE":
            self.count.case(f"{name} history", len(finished), len(charges))
        refunds = client.get_refund_history(token, None).signedTransactions
        given_back = [one for one in history if one.revocationDate]
        self.count.case(
            f"{name} refunds are in the history", len(refunds) <= len(given_back), True
        )
        if charges and charges[-1].get("order_id") and purchase["environment"] == "production":
            order = client.look_up_order_id(charges[-1]["order_id"])
            self.count.case(f"{name} order", len(order.signedTransactions) > 0, True)
        if decoded.type.name == "AUTO_RENEWABLE_SUBSCRIPTION":
            self.compare_status(name, purchase, described, client, verifier)
        elif decoded.type.name == "NON_CONSUMABLE":
            entitled = decoded.revocationDate is None
            self.count.case(f"{name} entitled", entitled, purchase["entitled"])

    def compare_status(self, name, purchase, described, client, verifier):
        answer = client.get_all_subscription_statuses(purchase["token"])
        last = [
            one
            for group in answer.data
            for one in group.lastTransactions
            if one.originalTransactionId == purchase["token"]
        ]
        self.count.case(f"{name} is once in its answer", len(last), 1)
        state = purchase["state"]
        self.count.case(f"{name} {state}", last[0].status.value, STATUSES.get(state, 2))
        self.count.case(f"{name} entitled", last[0].status.value in (1, 4), purchase["entitled"])
        transaction = verifier.verify_and_decode_signed_transaction(last[0].signedTransactionInfo)
        renewal = verifier.verify_and_decode_renewal_info(last[0].signedRenewalInfo)
        self.count.case(
            f"{name} product", transaction.productId, described["charges"][-1]["product"]
        )
        self.count.case(
            f"{name} auto-renew", renewal.autoRenewStatus.value == 1, described["auto_renews"]
        )
        if purchase["entitled"] and renewal.gracePeriodExpiresDate:
            self.count.case(f"{name} in grace", renewal.gracePeriodExpiresDate > now(), True)

    def refused(self, what, call, status, code=None):
        try:
            call()
            self.count.case(what, "an answer", f"{status} {code}")
        except APIException as error:
            found = (error.http_status_code, error.raw_api_error)
            self.count.case(what, found, (status, code))

    def errors(self):
        simulator, client = self.simulator, self.clients["production"]
        token = simulator.buy("apple")["token"]
        sandbox = simulator.buy("apple", environment="sandbox")["token"]
        ask = lambda: client.get_all_subscription_statuses(token)
        other = lambda **more: self.client(client._base_url, Environment.PRODUCTION, **more)
        self.refused("no id", lambda: client.get_transaction_info("GPA.1"), 400, 4000006)
        self.refused("no such id", lambda: client.get_transaction_info("999"), 404, 4040010)
        self.refused("of the sandbox", lambda: client.get_transaction_info(sandbox), 404, 4040010)
        info = self.clients["sandbox"].get_transaction_info(sandbox)
        decoded = self.verifiers["sandbox"].verify_and_decode_signed_transaction(
            info.signedTransactionInfo
        )
        self.count.case("environment", decoded.environment, Environment.SANDBOX)
        key = other(key_id="OTHERKEY00")
        self.refused("another key", lambda: key.get_transaction_info(token), 401)
        app = other(bundle="com.example.none")
        self.refused("another app", lambda: app.get_transaction_info(token), 401)
        table = [
            ("status", {"status": 500}, 500, 5000001),
            ("throttle", {}, 429, 4290000),
            ("quota_exhausted", {}, 429, 4290000),
            ("unauthorized", {}, 401, None),
            ("not_found", {}, 404, 4040010),
            ("gone", {}, 404, 4040001),
        ]
        for kind, more, status, code in table:
            with simulator.fails(kind, store="apple", **more):
                self.refused(f"fault {kind}", ask, status, code)
        for kind in ("html", "cut", "truncated", "garbled", "reset", "empty"):
            with simulator.fails(kind, store="apple"):
                self.raises(f"fault {kind}", ask, Exception)
        self.count.case("after all faults", ask().data is not None, True)

    def raises(self, what, call, kind):
        try:
            call()
            self.count.case(what, "an answer", kind.__name__)
        except kind:
            self.count.case(what, kind.__name__, kind.__name__)

    def signatures(self):
        simulator, client = self.simulator, self.clients["production"]
        verifier = self.verifiers["production"]
        token = simulator.buy("apple")["token"]
        ask = lambda: client.get_transaction_info(token).signedTransactionInfo
        good = ask()
        for kind in ("wrong_signature", "expired_certificate"):
            with simulator.fails(kind):
                text = ask()
            check = lambda: verifier.verify_and_decode_signed_transaction(text)
            self.raises(f"fault {kind}", check, VerificationException)
        other = self.verifier(Environment.PRODUCTION, bundle="com.example.none")
        check = lambda: other.verify_and_decode_signed_transaction(good)
        self.raises("another bundle", check, VerificationException)
        sandbox = self.verifiers["sandbox"]
        check = lambda: sandbox.verify_and_decode_signed_transaction(good)
        self.raises("another environment", check, VerificationException)
        decoded = verifier.verify_and_decode_signed_transaction(good)
        self.count.case("the right one", decoded.transactionId, token)

    def notifications(self):
        client, verifier = self.clients["production"], self.verifiers["production"]
        test = client.request_test_notification().testNotificationToken
        status = client.get_test_notification_status(test)
        decoded = verifier.verify_and_decode_notification(status.signedPayload)
        self.count.case("test notification", decoded.notificationType.name, "TEST")
        request = NotificationHistoryRequest(startDate=now() - 170 * DAY, endDate=now())
        seen, page = [], None
        for _ in range(200):
            answer = client.get_notification_history(page, request)
            for item in answer.notificationHistory:
                seen.append(verifier.verify_and_decode_notification(item.signedPayload))
            page = answer.paginationToken
            if not answer.hasMore:
                break
        ids = [one.notificationUUID for one in seen]
        self.count.case("notifications are told once", len(set(ids)), len(ids))
        names = {one.notificationType.name for one in seen if one.notificationType}
        wanted = {"SUBSCRIBED", "DID_RENEW", "EXPIRED", "REFUND", "DID_FAIL_TO_RENEW"}
        self.count.case("kinds of notifications", wanted - names, set())

    def status(self, token):
        answer = self.clients["production"].get_all_subscription_statuses(token)
        last, verifier = answer.data[0].lastTransactions[0], self.verifiers["production"]
        return (
            verifier.verify_and_decode_signed_transaction(last.signedTransactionInfo),
            verifier.verify_and_decode_renewal_info(last.signedRenewalInfo),
        )

    def news(self):
        """What came last, as far as this client knows it; seats came later."""
        simulator, count = self.simulator, self.count
        bought = simulator.buy("apple", plan="commitment")
        simulator.control("POST", f"/purchases/{bought['id']}/cancel")
        transaction, renewal = self.status(bought["token"])
        count.case("billing plan", transaction.billingPlanType.name, "MONTHLY")
        info = transaction.commitmentInfo
        count.case("billing period", (info.billingPeriodNumber, info.totalBillingPeriods), (1, 12))
        is_later = info.commitmentExpiresDate > transaction.expiresDate
        count.case("end of the commitment", is_later, True)
        count.case("the month renews", renewal.autoRenewStatus.name, "ON")
        info = renewal.commitmentInfo
        count.case("the commitment does not", info.commitmentAutoRenewStatus.name, "OFF")
        count.case("plan after it", info.commitmentRenewalBillingPlanType.name, "MONTHLY")
        bought = simulator.buy("apple", skus=["a", "b"])
        simulator.control("POST", f"/purchases/{bought['id']}/refund_item", product="a")
        items = self.status(bought["token"])[0].advancedCommerceInfo.items
        given_back = {item.SKU: item.revocationDate is not None for item in items}
        count.case("items", given_back, {"a": True, "b": False})
        bought = simulator.buy("apple", offer={"kind": "retention"})
        count.case("retention offer", self.status(bought["token"])[0].rawOfferType, 5)
        for more in ({"seats": 5}, {"type": "Suite Subscription"}, {"ownership": "assigned"}):
            bought = simulator.buy("apple", **more)
            product = self.status(bought["token"])[0].productId
            count.case(f"beside what is not known: {more}", product, "pro.monthly")

    def receipts(self):
        simulator, told = self.simulator, self.simulator.told
        urls = [told["apple_verify_receipt_url"], told["apple_sandbox_base_url"] + "/verifyReceipt"]

        class Validator(AppStoreValidator):
            def _change_url_by_sandbox(self):
                self.url = urls[1] if self.sandbox else urls[0]

        secret = simulator.read("apple.secret").decode()
        for purchase in simulator.truth("apple")[:40]:
            described = simulator.describe(purchase)
            if not described.get("app_receipt"):
                continue
            answer = Validator().validate(described["app_receipt"], secret)
            name = f"apple receipt {purchase['id']}"
            self.count.case(f"{name} status", answer["status"], 0)
            entries = answer.get("latest_receipt_info") or answer["receipt"]["in_app"]
            last = max(entries, key=lambda one: int(one.get("expires_date_ms", 0)))
            self.count.case(
                f"{name} original id", last["original_transaction_id"], purchase["token"]
            )
            ends = last.get("expires_date_ms")
            if ends and purchase["state"] == "active":
                self.count.case(f"{name} active", int(ends) > now(), True)
        self.receipt_errors(Validator, secret)

    def receipt_errors(self, validator, secret):
        simulator = self.simulator
        sandbox = simulator.describe(simulator.buy("apple", environment="sandbox"))["app_receipt"]
        answer = validator(auto_retry_wrong_env_request=True).validate(sandbox, secret)
        self.count.case("21007, then the sandbox", answer["environment"], "Sandbox")
        good = simulator.describe(simulator.buy("apple"))["app_receipt"]
        table = [
            ("no receipt", "AAAA", secret, 21002),
            ("wrong secret", good, "0" * 32, 21004),
            ("of the sandbox", sandbox, secret, 21007),
        ]
        for what, receipt, password, status in table:
            self.receipt_refused(what, validator, receipt, password, status)
        for status in (21002, 21005, 21009):
            with simulator.fails("receipt_status", status=status):
                self.receipt_refused(f"fault {status}", validator, good, secret, status)
        with simulator.fails("html", endpoint="verify_receipt"):
            self.raises(
                "fault html", lambda: validator().validate(good, secret), InAppPyValidationError
            )

    def receipt_refused(self, what, validator, receipt, secret, status):
        try:
            validator().validate(receipt, secret)
            self.count.case(what, "an answer", status)
        except InAppPyValidationError as error:
            self.count.case(what, error.raw_response["status"], status)


