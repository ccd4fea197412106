#!/usr/bin/env python3
"""The nightly job that an app's backend writes once: it asks the stores about what is about to end.

    0 2 * * *  old_job.py STORES_FOLDER POSTGRES_FOLDER

It is deliberately ordinary. It takes a later end for a renewal, and anything that is no JSON for "not
subscribed"; it looks neither at refunds nor at grace periods, and never again at what has ended.
With --all it asks about everybody, as on its first day.
"""

import base64
import csv
import http.client
import io
import json
import os
import ssl
import subprocess
import sys
import tempfile
from urllib.parse import quote, urlsplit

DAYS = {"p1w": 7, "p1m": 30, "p3m": 91, "p1y": 365}
DAY = 86_400


class Database:
    def __init__(self, folder):
        self.psql = ["psql", "-h", folder, "-U", "postgres", "-d", "postgres", "-Xq", "--csv"]

    def run(self, sql):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PG")}
        done = subprocess.run(
            self.psql + ["-v", "ON_ERROR_STOP=1"], input=sql, text=True, env=environment,
            capture_output=True, check=True,
        )
        return list(csv.DictReader(io.StringIO(done.stdout)))


class Stores:
    def __init__(self, folder):
        self.folder = folder
        self.url = urlsplit(self.read("url").strip())
        trust = ssl.create_default_context(cafile=f"{folder}/ca.pem")
        self.connection = http.client.HTTPSConnection(self.url.netloc, context=trust)
        self.google_token = None

    def read(self, name):
        with open(f"{self.folder}/{name}", encoding="utf-8") as file:
            return file.read()

    def ask(self, method, path, body=None, headers=None):
        """The answer as JSON; None where there is no answer. Anything else is a ValueError."""
        self.connection.request(method, path, body, headers or {})
        response = self.connection.getresponse()
        text = response.read()
        if response.status >= 400:
            return None
        return json.loads(text)

    def google(self, row):
        if self.google_token is None:
            self.google_token = self.log_in()
        answer = self.ask(
            "GET",
            f"/androidpublisher/v3/applications/{row['app']}/purchases/subscriptions/"
            f"{row['product']}/tokens/{quote(row['token'], safe='')}",
            headers={"Authorization": f"Bearer {self.google_token}"},
        )
        return answer and int(answer["expiryTimeMillis"]) / 1000

    def apple(self, row):
        body = {"receipt-data": row["receipt"], "password": self.read("apple.secret").strip()}
        answer = self.ask("POST", "/verifyReceipt", json.dumps(body))
        entries = answer and answer.get("latest_receipt_info")
        return entries and max(int(entry["expires_date_ms"]) for entry in entries) / 1000

    def amazon(self, row):
        answer = self.ask(
            "GET",
            f"/version/1.0/verifyReceiptId/developer/{quote(self.read('amazon.secret').strip())}"
            f"/user/{quote(row['store_user_id'], safe='')}"
            f"/receiptId/{quote(row['token'], safe='')}",
        )
        end = answer and (answer.get("renewalDate") or answer.get("cancelDate"))
        return end and int(end) / 1000

    def log_in(self):
        """An access token, for a claim that openssl signs."""
        account = json.loads(self.read("google.json"))
        now = int(account_time(self))
        claims = {
            "iss": account["client_email"], "aud": account["token_uri"], "iat": now,
            "exp": now + 3600, "scope": "https://www.googleapis.com/auth/androidpublisher",
        }
        text = ".".join(encoded(json.dumps(part).encode()) for part in (
            {"alg": "RS256", "typ": "JWT"}, claims))
        with tempfile.NamedTemporaryFile("w") as key:
            key.write(account["private_key"])
            key.flush()
            signature = subprocess.run(
                ["openssl", "dgst", "-sha256", "-sign", key.name], input=text.encode(),
                capture_output=True, check=True,
            ).stdout
        body = (
            "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer"
            f"&assertion={text}.{encoded(signature)}"
        )
        answer = self.ask(
            "POST", urlsplit(account["token_uri"]).path, body,
            {"Content-Type": "application/x-www-form-urlencoded"},
        )
        return answer["access_token"]


def account_time(stores):
    return stores.now


def encoded(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def judge(row, end, now):
    """Whether they are subscribed, and until when."""
    before = float(row["ends"])
    if row["active"] == "t" and end > before:
        # Later than what we know: they have paid for another period.
        return True, max(end, before + DAYS[row["product"].split(".")[1]] * DAY)
    return end > now, end


def main(stores_folder, postgres_folder, everybody):
    database = Database(postgres_folder)
    stores = Stores(stores_folder)
    where = "true" if everybody else "active AND expires_at < now() + interval '1 day'"
    rows = database.run(
        f"""SELECT *, extract(epoch FROM expires_at) AS ends, extract(epoch FROM now()) AS now
        FROM subscriptions WHERE {where} ORDER BY user_id"""
    )
    if not rows:
        return print("asked about nobody")
    stores.now = float(rows[0]["now"])
    changed = []
    for row in rows:
        try:
            end = getattr(stores, row["store"])(row)
        except ValueError:
            # Not what a subscription looks like.
            changed.append((row["user_id"], False, float(row["ends"])))
            continue
        if end:
            changed.append((row["user_id"], *judge(row, end, stores.now)))
    values = ",".join(f"('{user}', {active}, {end})" for user, active, end in changed)
    if values:
        database.run(
            f"""UPDATE subscriptions AS known
            SET active = told.active, expires_at = to_timestamp(told.ends)
            FROM (VALUES {values}) AS told (user_id, active, ends)
            WHERE known.user_id = told.user_id"""
        )
    print(f"asked about {len(rows)}, {sum(active for _, active, _ in changed)} are subscribed")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], "--all" in sys.argv)
