"""Amazon has no client of its own, and inapppy no longer has one: the documented call, as is."""

from urllib.parse import quote

import requests

from stage import now


class Amazon:
    def __init__(self, simulator, count):
        self.simulator, self.count = simulator, count
        self.secret = simulator.read("amazon.secret").decode()

    def run(self):
        self.count.client = "requests, Amazon"
        for purchase in self.simulator.truth("amazon"):
            self.compare(purchase)
        self.add_ons()
        self.errors()

    def add_ons(self):
        """Members that the documentation has, in cases that no scenario plays."""
        simulator = self.simulator
        base = simulator.buy("amazon", country="FR")
        addon = simulator.buy("amazon", bases=[base["id"]], acknowledged=False)
        receipt = self.ask(addon).json()
        self.count.case("base receipts", receipt["baseReceipts"], [base["token"]])
        self.count.case("not fulfilled", receipt["fulfillmentResult"], None)
        self.count.case("country", self.ask(base).json()["countryCode"], "FR")
        simulator.control("POST", f"/purchases/{addon['id']}/fulfil")
        self.count.case("fulfilled", self.ask(addon).json()["fulfillmentResult"], "FULFILLED")
        simulator.control("POST", f"/purchases/{base['id']}/refund")
        self.count.case("without its base", simulator.describe(addon)["entitled"], False)

    def ask(self, purchase, **other):
        name = "amazon_sandbox_base_url" if other.get("sandbox") else "amazon_base_url"
        parts = [
            "version/1.0/verifyReceiptId/developer",
            quote(other.get("secret", self.secret), safe=""),
            "user",
            quote(other.get("user", purchase["store_user_id"]), safe=""),
            "receiptId",
            quote(other.get("token", purchase["token"]), safe=""),
        ]
        return requests.get("/".join([self.simulator.told[name]] + parts), timeout=20)

    def compare(self, purchase):
        name, answer = f"amazon {purchase['id']}", self.ask(purchase)
        self.count.case(f"{name} status", answer.status_code, 200)
        receipt = answer.json()
        self.count.case(f"{name} id", receipt["receiptId"], purchase["token"])
        if receipt["productType"] != "CONSUMABLE":
            ended = receipt["cancelDate"] is not None and receipt["cancelDate"] <= now()
            self.count.case(f"{name} {purchase['state']}", not ended, purchase["entitled"])
        if receipt["productType"] == "SUBSCRIPTION":
            in_grace = receipt["gracePeriodEndDate"] is not None
            self.count.case(f"{name} grace", in_grace, purchase["state"] == "grace")

    def errors(self):
        simulator, one = self.simulator, self.simulator.buy("amazon")
        sandbox = simulator.buy("amazon", environment="sandbox")
        status = lambda purchase, **other: self.ask(purchase, **other).status_code
        self.count.case("the right one", status(one), 200)
        self.count.case("wrong secret", status(one, secret="2:x:y=="), 496)
        self.count.case("wrong user", status(one, user="nobody"), 497)
        self.count.case("no such receipt", status(one, token="nothing"), 400)
        self.count.case("of the sandbox", status(sandbox), 400)
        self.count.case("in the sandbox", status(sandbox, sandbox=True), 200)
        table = [
            ("status", 500, {"status": 500}),
            ("throttle", 429, {}),
            ("gone", 410, {}),
            ("unauthorized", 496, {}),
            ("html", 200, {}),
        ]
        for kind, expected, more in table:
            with simulator.fails(kind, store="amazon", **more):
                self.count.case(f"fault {kind}", status(one), expected)
        for kind in ("cut", "reset"):
            with simulator.fails(kind, store="amazon"):
                try:
                    status(one)
                    self.count.case(f"fault {kind}", "an answer", "an exception")
                except requests.RequestException:
                    self.count.case(f"fault {kind}", "an exception", "an exception")
