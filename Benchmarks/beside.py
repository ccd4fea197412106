"""What people would use instead of renewald, measured beside it: the same purchases, stores, PostgreSQL and
machine, in the same run. The programs are in `peers`; they keep a table of their own, as an application would.
"""

import json, os, re, subprocess, time, tomllib, venv
from pathlib import Path

from world import APP

PEERS = Path(__file__).parent / "peers"
ENVIRONMENT = Path(__file__).parent.parent / ".build" / "peers"


def python():
    """The interpreter that has the libraries of `requirements.txt`; made again when that changes."""
    wanted, installed = PEERS / "requirements.txt", ENVIRONMENT / "requirements.txt"
    if not installed.exists() or installed.read_text() != wanted.read_text():
        venv.create(ENVIRONMENT, clear=True, with_pip=True)
        subprocess.run(
            [ENVIRONMENT / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", "-r", wanted],
            check=True)
        installed.write_text(wanted.read_text())
    return ENVIRONMENT / "bin" / "python"


class Beside:
    def __init__(self, world, in_flight):
        self.world, self.in_flight, self.python = world, in_flight, python()

    def prepare(self, store):
        """The purchases of a store that renewald has, in a table as a rake task would keep it."""
        self.world.sql(
            "SET client_min_messages = warning;\n"
            "DROP TABLE IF EXISTS subscriptions;\n"
            "CREATE TABLE subscriptions (id bigint PRIMARY KEY, token text NOT NULL, active bool, "
            "expires_at timestamptz, checked_at timestamptz);\n"
            "INSERT INTO subscriptions (id, token) SELECT id, token FROM renewald.purchase "
            f"JOIN renewald.credential USING (shard, id) WHERE user_id LIKE '{store}-%' ORDER BY id;\n"
            "VACUUM ANALYZE subscriptions;\nCHECKPOINT;")

    def ruby(self, count, threads=None):
        return self.run(["ruby", PEERS / "rake_task.rb"], self.job("google", count, threads=threads))

    def asynchronous(self, store, count):
        return self.run([self.python, PEERS / "async_job.py"], self.job(store, count))

    def generator(self, count):
        """What h2load reaches: it reads no answer and writes nothing, so nobody can be faster."""
        token = subprocess.run(
            [self.python, PEERS / "async_job.py", "token"], input=json.dumps(self.job("google", 0)),
            text=True, stdout=subprocess.PIPE, check=True).stdout.strip()
        tokens = self.world.sql(f"SELECT token FROM subscriptions ORDER BY id LIMIT {count};").split()
        path = f"{self.world.origin}/androidpublisher/v3/applications/{APP}/purchases/subscriptionsv2/tokens"
        urls = self.world.folder / "urls"
        urls.write_text("".join(f"{path}/{one}\n" for one in tokens))
        before = os.times()
        done = subprocess.run(
            ["h2load", "-n", str(count), "-c", "2", "-m", str(self.in_flight // 2), "-i", urls,
             "-H", f"authorization: Bearer {token}"], stdout=subprocess.PIPE, text=True, check=True)
        after = os.times()
        if f"{count} succeeded" not in done.stdout:
            raise SystemExit(done.stdout)
        cpu = after.children_user + after.children_system - before.children_user - before.children_system
        rate = float(re.search(r"([\d.]+) req/s", done.stdout)[1])
        return {"rate": rate, "cpu": cpu / count * 1e6, "memory": None}

    def job(self, store, count, **more):
        stores = self.world.folder / "stores"
        apps = tomllib.loads((stores / "renewald.toml").read_text())["app"]
        apple = next(app for app in apps if app["store"] == "apple")
        return {
            "store": store, "count": count, "in_flight": self.in_flight, "app": APP,
            "database": self.world.conninfo, "origin": self.world.origin, "ca": str(stores / "ca.pem"),
            "service_account": str(stores / "google.json"), "private_key": str(stores / "apple.p8"),
            "key_id": apple["key_id"], "issuer_id": apple["issuer_id"],
            "root": str(stores / "apple-root.der"), **more}

    def run(self, command, job):
        """Checks a second, CPU microseconds a check and peak memory in MiB, from start to end.

        The program tells its peak memory: `wait4` also counts ours, of before it was executed.
        """
        began = time.monotonic()
        child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        child.stdin.write(json.dumps(job).encode())
        child.stdin.close()
        told = child.stdout.read().decode()
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.monotonic() - began
        child.returncode = os.waitstatus_to_exitcode(status)
        written = int(self.world.sql(
            "SELECT count(*) FROM subscriptions WHERE checked_at IS NOT NULL AND active;"))
        if child.returncode or written != job["count"]:
            raise SystemExit(
                f"{command[-1].name}: ended with {child.returncode}, {written} of {job['count']} written")
        self.world.sql(
            "UPDATE subscriptions SET checked_at = NULL;\nVACUUM ANALYZE subscriptions;\nCHECKPOINT;")
        cpu = usage.ru_utime + usage.ru_stime
        return {
            "rate": job["count"] / seconds, "cpu": cpu / job["count"] * 1e6,
            "memory": int(re.search(r"VmHWM:\s+(\d+) kB", told)[1]) / 1024}
