"""A running simulator, its ground truth, and the count of what was compared."""

import datetime
import json
import os
import pathlib
import subprocess
import sys
import time

import httplib2
import requests

DAY = 86_400_000


class Counter:
    """Cases are comparisons; calls are HTTP requests that a client library made."""

    def __init__(self):
        self.calls = {}
        self.cases = {}
        self.differences = []
        self.client = ""

    def call(self):
        self.calls[self.client] = self.calls.get(self.client, 0) + 1

    def case(self, what, found, expected):
        self.cases[self.client] = self.cases.get(self.client, 0) + 1
        if found != expected:
            difference = f"{what}: found {found!r}, expected {expected!r}"
            self.differences.append(f"{self.client}: {difference}")

    def count_requests(self):
        """Counts at the two HTTP libraries under all clients."""
        count = self
        send, request = requests.Session.send, httplib2.Http.request

        def counted_send(session, *arguments, **named):
            if "/control/" not in arguments[0].url:
                count.call()
            return send(session, *arguments, **named)

        def counted_request(http, *arguments, **named):
            count.call()
            return request(http, *arguments, **named)

        requests.Session.send, httplib2.Http.request = counted_send, counted_request


class Simulator:
    """A `storesim` child process and its control calls."""

    def __init__(self, program, directory):
        self.directory = pathlib.Path(directory)
        self.process = subprocess.Popen(
            [program, "serve", "--directory", directory, "--seed", "7", "--json"],
            stdout=subprocess.PIPE,
            text=True,
        )
        line = self.process.stdout.readline()
        if not line.startswith("storesim: listening on "):
            sys.exit("conformance: the simulator does not start")
        self.told = json.loads(self.process.stdout.readline())
        self.app = self.told["apple_bundle_id"]
        # Both HTTP libraries are told to trust the simulator's authority.
        os.environ["REQUESTS_CA_BUNDLE"] = httplib2.CA_CERTS = self.told["tls_ca"]

    def read(self, name):
        return (self.directory / name).read_bytes()

    def control(self, method, path, **body):
        reply = requests.request(
            method, self.told["control_url"] + path, json=body or None, verify=self.told["tls_ca"]
        )
        if reply.status_code != 200:
            sys.exit(f"conformance: {method} {path}: {reply.text}")
        return reply.json()

    def buy(self, store, **more):
        reply = self.control("POST", "/purchases", store=store, product="pro.monthly", **more)
        return reply["purchases"][0]

    def truth(self, store):
        """All purchases of a store that were made by now."""
        return [one for one in self.control("GET", "/truth")["purchases"] if one["store"] == store]

    def describe(self, purchase):
        return self.control("GET", f"/purchases/{purchase['id']}")

    def fails(self, kind, **more):
        """A fault, for as long as a `with` block lasts."""
        return Failing(self, {"kind": kind, **more})

    def populate(self):
        """Every library scenario at two ages, and a fleet: lives in all states, as of now."""
        now = datetime.datetime.now(datetime.timezone.utc)
        scenarios = self.control("GET", "/scenarios")["scenarios"]
        for age in (30, 95):
            start = (now - datetime.timedelta(days=age)).strftime("%Y-%m-%dT%H:%M:%SZ")
            for scenario in scenarios:
                self.control("POST", "/scenarios", name=scenario["name"], start=start)
        start = (now - datetime.timedelta(days=300)).strftime("%Y-%m-%dT%H:%M:%SZ")
        self.control("POST", "/fleet", count=120, seed=11, start=start, days=300)
        self.control("DELETE", "/faults")

    def end(self):
        self.process.terminate()
        self.process.wait(timeout=20)


class Failing:
    def __init__(self, simulator, body):
        self.simulator, self.body = simulator, body

    def __enter__(self):
        self.id = self.simulator.control("POST", "/faults", **self.body)["id"]

    def __exit__(self, *_):
        # A fault that was used up is still listed.
        self.simulator.control("DELETE", f"/faults/{self.id}")


def milliseconds(text):
    """RFC 3339 in UTC as milliseconds since 1970."""
    moment = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
    return round(moment.timestamp() * 1000)


def now():
    return round(time.time() * 1000)
