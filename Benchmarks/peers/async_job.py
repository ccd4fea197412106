"""An asynchronous job in Python, as good as its libraries allow: google-auth and httpx, or Apple's own library
with every signature verified, and psycopg with batches in pipeline mode.

Reads the job as JSON from standard input: see beside.py. "token" alone prints an access token.
"""

import asyncio, functools, json, os, ssl, sys
from datetime import datetime, timezone
from pathlib import Path
from urllib.parse import quote

import httpx, psycopg
from appstoreserverlibrary.api_client import AsyncAppStoreServerAPIClient
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier
from google.auth.transport.requests import Request
from google.oauth2 import service_account

BATCH = 100
UPDATE = "UPDATE subscriptions SET active = %s, expires_at = %s, checked_at = now() WHERE id = %s"


def access_token(job):
    credentials = service_account.Credentials.from_service_account_file(
        job["service_account"], scopes=["https://www.googleapis.com/auth/androidpublisher"])
    os.environ["REQUESTS_CA_BUNDLE"] = job["ca"]
    credentials.refresh(Request())
    return credentials.token


class Google:
    def __init__(self, job, client):
        self.client = client
        self.path = (
            f"{job['origin']}/androidpublisher/v3/applications/{job['app']}/purchases/subscriptionsv2/tokens/")
        self.headers = {"Authorization": f"Bearer {access_token(job)}"}

    async def end(self, token):
        answer = await self.client.get(self.path + quote(token, safe=""), headers=self.headers)
        answer.raise_for_status()
        return datetime.fromisoformat(answer.json()["lineItems"][0]["expiryTime"])


class Apple:
    def __init__(self, job, client):
        self.api = AsyncAppStoreServerAPIClient(
            Path(job["private_key"]).read_bytes(), job["key_id"], job["issuer_id"], job["app"],
            Environment.PRODUCTION)
        self.api._base_url = job["origin"]
        self.api.http_client = client
        # It signs a token for each call, though one serves for minutes.
        self.api._generate_token = functools.cache(self.api._generate_token)
        self.verifier = SignedDataVerifier(
            [Path(job["root"]).read_bytes()], False, Environment.PRODUCTION, job["app"], app_apple_id=1)

    async def end(self, token):
        answer = await self.api.get_all_subscription_statuses(token)
        for group in answer.data:
            for entry in group.lastTransactions:
                if entry.originalTransactionId == token:
                    self.verifier.verify_and_decode_renewal_info(entry.signedRenewalInfo)
                    transaction = self.verifier.verify_and_decode_signed_transaction(
                        entry.signedTransactionInfo)
                    return datetime.fromtimestamp(transaction.expiresDate / 1000, timezone.utc)


async def write(connection, batch):
    async with connection.cursor() as cursor:
        await cursor.executemany(UPDATE, batch)
    await connection.commit()


async def main(job):
    connection = await psycopg.AsyncConnection.connect(job["database"])
    cursor = await connection.execute(
        "SELECT id, token FROM subscriptions ORDER BY id LIMIT %s", [job["count"]])
    rows = iter(await cursor.fetchall())
    await connection.commit()
    done = []
    # With HTTP/1.1 it takes three to five times the CPU.
    trust = ssl.create_default_context(cafile=job["ca"])
    async with httpx.AsyncClient(http2=True, verify=trust, timeout=60) as client:
        store = {"google": Google, "apple": Apple}[job["store"]](job, client)
        writing = asyncio.Lock()

        async def work():
            for id, token in rows:
                try:
                    end = await store.end(token)
                except Exception:  # The next night tries again.
                    continue
                done.append((end > datetime.now(timezone.utc), end, id))
                if len(done) >= BATCH:
                    batch = done[:]
                    done.clear()
                    async with writing:
                        await write(connection, batch)

        async with asyncio.TaskGroup() as group:
            for _ in range(job["in_flight"]):
                group.create_task(work())
    await write(connection, done)
    await connection.close()


if __name__ == "__main__":
    job = json.load(sys.stdin)
    if sys.argv[1:] == ["token"]:
        print(access_token(job))
    else:
        asyncio.run(main(job))
        print(Path("/proc/self/status").read_text())
