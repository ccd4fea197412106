"""One pass of `renewald once` over many purchases of a store, and what it takes of the machine."""

import json

from world import APP, World

STORES = ("apple", "google", "amazon")
# The products of a random fleet that are no subscriptions.
KINDS = """
[[product]]
id = "lifetime"
kind = "non_consumable"

[[product]]
id = "coins"
kind = "consumable"

[[product]]
id = "season"
kind = "non_renewing"
duration = "P90D"
"""


class Passes(World):
    def __init__(self, count, in_flight=200):
        super().__init__()
        self.count, self.in_flight = count, in_flight

    def configure_without_quota(self):
        def unlimited(text):
            for store in STORES:
                text = text.replace(
                    f"[store.{store}]\n", f"[store.{store}]\nrequests_per_second = 100000\n")
            return text

        self.configure(f"\n[engine]\nin_flight = {self.in_flight}\n{KINDS}", unlimited)

    def submit(self, store):
        made = self.control(
            "purchases",
            {"store": store, "app": APP, "product": "monthly", "period": "P1M", "count": self.count})
        rows = "\n".join(
            "\t".join([str(one["id"]), one["token"], one.get("store_user_id") or "\\N"])
            for one in made["purchases"])
        self.sql(
            "CREATE TEMP TABLE made (id text, token text, store_user_id text);\n"
            f"COPY made FROM STDIN;\n{rows}\n\\.\n"
            f"SELECT count(renewald.submit('{store}-' || id, '{store}', '{APP}', 'monthly', token, "
            "store_user_id)) FROM made;\nVACUUM ANALYZE;\nCHECKPOINT;")

    def once(self, store):
        self.control("calls", method="DELETE")
        before = self.wal()
        text, seconds, cpu, memory = self.renewald("once", "--store", store, "--json")
        report = json.loads(text)
        if report["checked"] != self.count or report["unjudged"]:
            raise SystemExit(f"{store}: {report}")
        calls = self.control("calls")[store]["calls"]
        return {
            "rate": self.count / seconds, "cpu": cpu / self.count * 1e6, "memory": memory,
            "calls": calls / self.count, "wal": (self.wal() - before) / self.count,
        }

    def make_due(self):
        self.sql(
            "UPDATE renewald.schedule SET due_at = now() - interval '1 minute' * random();\n"
            "VACUUM ANALYZE;")
