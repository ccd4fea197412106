"""Questions about refunds and notifications beside all lives, with Apple's own client."""

from appstoreserverlibrary.models.ConsumptionRequest import ConsumptionRequest
from appstoreserverlibrary.models.DeliveryStatus import DeliveryStatus
from appstoreserverlibrary.models.NotificationHistoryRequest import NotificationHistoryRequest
from appstoreserverlibrary.models.RefundPreference import RefundPreference

from stage import DAY, now


class AppleDesk:
    def __init__(self, apple):
        self.simulator, self.count, self.refused = apple.simulator, apple.count, apple.refused
        self.client = apple.clients["production"]
        self.verifier = apple.verifiers["production"]

    def run(self):
        self.questions()
        self.announcements()
        self.migration()

    def told(self, kind, token=None):
        """What was told last of a kind, about one transaction where it is named. The history shows
        a notification a second after it was sent."""
        deadline, found = now() + 20_000, None
        while found is None and now() < deadline:
            found = self.told_so_far(kind, token)
        return found

    def told_so_far(self, kind, token):
        query = {"startDate": now() - DAY, "endDate": now() + 60_000}
        if token:
            query["transactionId"] = token
        request, page, found = NotificationHistoryRequest(**query), None, None
        while True:
            answer = self.client.get_notification_history(page, request)
            for item in answer.notificationHistory:
                one = self.verifier.verify_and_decode_notification(item.signedPayload)
                if one.rawNotificationType == kind and (
                    found is None or one.signedDate >= found.signedDate
                ):
                    found = one
            page = answer.paginationToken
            if not answer.hasMore:
                return found

    def transaction(self, notification):
        signed = notification.data.signedTransactionInfo
        return self.verifier.verify_and_decode_signed_transaction(signed)

    def answer(self, preference, **other):
        return ConsumptionRequest(
            customerConsented=other.get("consented", True),
            sampleContentProvided=False,
            deliveryStatus=DeliveryStatus.DELIVERED,
            refundPreference=preference,
        )

    def questions(self):
        simulator, count = self.simulator, self.count
        for outcome, told in (("declined", "REFUND_DECLINED"), ("refunded", "REFUND")):
            bought = simulator.buy("apple")
            asked = simulator.control(
                "POST", "/refunds", purchase=bought["id"], reason="UNINTENDED_PURCHASE"
            )
            question = self.told("CONSUMPTION_REQUEST", bought["token"])
            reason = question.data.consumptionRequestReason
            count.case("reason of a question", reason.name, "UNINTENDED_PURCHASE")
            order = self.transaction(question).transactionId
            send = lambda body: self.client.send_consumption_information(order, body)
            unasked = self.answer(RefundPreference.DECLINE, consented=False)
            self.refused("no consent", lambda: send(unasked), 400, 4000035)
            send(self.answer(RefundPreference.GRANT_PRORATED))
            kept = [one for one in self.replies(asked["id"]) if one["kept"]]
            count.case("answers that were kept", len(kept), 1)
            is_whole = "GRANT_PRORATED" in kept[0]["body"] and "DELIVERED" in kept[0]["body"]
            count.case("the answer as it came", is_whole, True)
            simulator.control("POST", f"/refunds/{asked['id']}/decide", outcome=outcome)
            decision = self.told(told, bought["token"])
            found = decision and self.transaction(decision).transactionId
            count.case(f"what was decided: {outcome}", found, order)
        body = self.answer(RefundPreference.DECLINE)
        send = lambda: self.client.send_consumption_information("999", body)
        self.refused("an answer about no transaction", send, 404, 4040010)

    def replies(self, number):
        asked = self.simulator.control("GET", "/refunds")["refunds"]
        return [reply for one in asked if one["id"] == number for reply in one["replies"]]

    def announcements(self):
        parts = {"RESCIND_CONSENT": "appData", "EXTERNAL_PURCHASE_TOKEN": "externalPurchaseToken"}
        for kind, part in parts.items():
            self.simulator.control("POST", "/announcements", store="apple", type=kind)
            found = self.told(kind)
            has_part = found is not None and getattr(found, part) is not None
            self.count.case(f"{kind} has its part", has_part, True)
            self.count.case(f"{kind} has no transaction", found and found.data, None)
        self.simulator.control("POST", "/announcements", store="apple", type="NEWS_OF_TOMORROW")
        found = self.told("NEWS_OF_TOMORROW")
        self.count.case("an unknown type", found and found.notificationType, None)

    def migration(self):
        bought = self.simulator.buy("apple")
        self.simulator.control("POST", f"/purchases/{bought['id']}/migrate")
        found = self.told("MIGRATION")
        name = found and self.transaction(found).originalTransactionId
        self.count.case("another id after a migration", name not in (None, bought["token"]), True)
        answer = self.client.get_all_subscription_statuses(bought["token"])
        shown = answer.data[0].lastTransactions[0].originalTransactionId
        self.count.case("both ids answer with the new one", shown, name)
