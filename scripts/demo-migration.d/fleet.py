#!/usr/bin/env python3
"""What the demo asks the simulator about, which knows the truth.

    fleet.py start STORES COUNT     subscriptions that were sold by now, as CSV: the backend's table
    fleet.py truth STORES           who is entitled now: user_id,entitled,late as CSV
    fleet.py judge STORES FILE      holds the differences that `renewald shadow --csv` found against it
"""

import csv
import http.client
import json
import ssl
import sys
from urllib.parse import urlsplit


class Simulator:
    def __init__(self, folder):
        with open(f"{folder}/url", encoding="utf-8") as file:
            self.url = file.read().strip()
        trust = ssl.create_default_context(cafile=f"{folder}/ca.pem")
        self.connection = http.client.HTTPSConnection(urlsplit(self.url).netloc, context=trust)

    def get(self, path):
        self.connection.request("GET", f"/control/{path}")
        return json.load(self.connection.getresponse())

    def truth(self):
        return self.get("truth")["purchases"]


def start(simulator, count):
    rows = csv.writer(sys.stdout, lineterminator="\n")
    rows.writerow("user_id store app product token store_user_id receipt".split())
    sold = [
        purchase for purchase in simulator.truth()
        # What is sold later is in force already, and entitles nobody.
        if purchase["product"].startswith("pro.")
        and (purchase["entitled"] or purchase["state"] != "active")
    ]
    for purchase in sold[:count]:
        receipt = ""
        if purchase["store"] == "apple":
            receipt = simulator.get(f"purchases/{purchase['id']}/receipt?style=app")["receipt"]
        rows.writerow([
            purchase["user"], purchase["store"], purchase["app"], purchase["product"],
            purchase["token"], purchase.get("store_user_id") or "", receipt,
        ])


def is_late(purchase):
    """Amazon tells nobody of a refund, nor when what will not renew ends: found within two days."""
    return purchase["store"] == "amazon" and purchase["state"] in ("refunded", "expired")


def truth(simulator):
    for purchase in simulator.truth():
        print(purchase["user"], purchase["entitled"], is_late(purchase), sep=",")


def judge(simulator, file):
    known = {purchase["user"]: purchase for purchase in simulator.truth()}
    right = wrong = late = 0
    with open(file, encoding="utf-8") as lines:
        for line in csv.DictReader(lines):
            purchase = known[line["user_id"]]
            if purchase["entitled"] == (line["class"] == "we_grant"):
                right += 1
            elif is_late(purchase):
                late += 1
            else:
                wrong += 1
                told = " ".join(line[name] for name in ("user_id", "class", "cause"))
                print(f"not so: {told}, {purchase['store']} {purchase['state']}", file=sys.stderr)
    print(right, wrong, late)


if __name__ == "__main__":
    what, simulator = sys.argv[1], Simulator(sys.argv[2])
    if what == "start":
        start(simulator, int(sys.argv[3]))
    elif what == "truth":
        truth(simulator)
    else:
        judge(simulator, sys.argv[3])
