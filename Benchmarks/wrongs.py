"""Who is wrong while a store fails: renewald and what people would use instead, under the same faults.

Users of Google's who have what they pay for, and some who were refunded. Each program makes one pass while the
simulated store fails in one way; then what it believes is compared with what is true.
"""

import json, os, subprocess

from beside import PEERS, Beside
from world import APP, World

PAYING = int(os.environ.get("BENCH_PAYING", "200"))
REFUNDED = PAYING // 4
PATIENCE = 90
# From the field: what stores have done to those who ask (docs/lessons.md).
FAULTS = {
    "nothing fails": None,
    "a tenth: 404": {"kind": "not_found", "share": 0.1},
    "each, once: 410": {"kind": "gone_once"},
    "a fifth: 503": {"kind": "status", "status": 503, "share": 0.2},
    "one in 50: 429, Retry-After in ms": {"kind": "throttle", "share": 0.02, "retry_after_text": "1796000000000"},
    "a tenth: 200 and a web page": {"kind": "html", "share": 0.1},
    "a tenth: half an answer": {"kind": "truncated", "share": 0.1},
    "one call: no answer ever": {"kind": "hang", "count": 1},
    "a tenth: another one's answer": {"kind": "other_purchase", "share": 0.1},
    "a tenth: an answer 40 days old": {"kind": "stale", "age": "P40D", "share": 0.1},
    "all are called expired": {"kind": "ended"},
}


class Wrongs(World):
    def start(self):
        super().start()
        self.worlds = self.conninfo
        # More than a month ago: an old answer tells of a period that is over.
        made = self.control(
            "purchases", {"store": "google", "app": APP, "product": "monthly", "period": "P1M",
                          "start": self.instant(-45 * 86400), "count": PAYING + REFUNDED})["purchases"]
        for one in made[PAYING:]:
            self.control(f"purchases/{one['id']}/refund", {})
        # What happened an hour ago is no news any more.
        self.control("clock", {"set": self.instant(1)})
        self.use("base")
        rows = "\n".join(f"{n}\t{one['token']}" for n, one in enumerate(made))
        self.sql(
            f"CREATE TEMP TABLE made (id int, token text);\nCOPY made FROM STDIN;\n{rows}\n\\.\n"
            f"SELECT count(renewald.submit('user-' || id, 'google', '{APP}', 'monthly', token)) FROM made;\n"
            "CREATE TABLE subscriptions (id int PRIMARY KEY, token text NOT NULL, active bool, "
            "expires_at timestamptz, checked_at timestamptz);\n"
            f"INSERT INTO subscriptions SELECT id, token, id < {PAYING} FROM made;")
        self.renewald("once")
        wrong = self.believed()
        if wrong != (0, 0):
            raise SystemExit(f"before any fault: {wrong}")
        self.beside = Beside(self, 50)

    def use(self, name, template="template1"):
        self.conninfo = self.worlds
        self.sql(f"SET client_min_messages = error;\nDROP DATABASE IF EXISTS {name};\nCREATE DATABASE {name} TEMPLATE {template};")
        self.conninfo = self.worlds.replace("dbname=postgres", f"dbname={name}")
        self.configure("\n[engine]\nin_flight = 50\n", lambda text: text.replace(
            "[store.google]\n", "[store.google]\nrequests_per_second = 5000\n"))
        if template == "template1":
            self.renewald("migrate")

    def count(self, query):
        return tuple(int(one) for one in self.sql(query).split("|"))

    def believed(self):
        """Of renewald: how many pay and have nothing, how many have what they do not pay for."""
        return self.count(
            f"WITH held AS (SELECT substr(user_id, 6)::int AS n FROM renewald.entitlements WHERE active)\n"
            f"SELECT {PAYING} - count(*) FILTER (WHERE n < {PAYING}), count(*) FILTER (WHERE n >= {PAYING}) FROM held")

    def renewald_pass(self):
        self.sql("UPDATE renewald.schedule SET due_at = now()")
        self.renewald("once", "--store", "google")
        left = self.count("SELECT count(*) FROM renewald.schedule WHERE attempts > 0")
        return (*self.believed(), *left)

    def peer_pass(self, command):
        """Whatever becomes of it: a job that fails has written what it has written."""
        child = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        child.stdin.write(json.dumps(self.beside.job("google", PAYING + REFUNDED)).encode())
        child.stdin.close()
        try:
            child.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        return self.count(
            f"SELECT count(*) FILTER (WHERE id < {PAYING} AND NOT active), "
            f"count(*) FILTER (WHERE id >= {PAYING} AND active), count(*) FILTER (WHERE checked_at IS NULL) "
            "FROM subscriptions")

    def measure(self):
        print(
            f"\nunder faults: {PAYING} who pay and {REFUNDED} who were refunded, one pass each: who pays and is locked "
            "out / who was\nrefunded and has access / how many were not judged (renewald asks about them again)")
        programs = {
            "renewald": self.renewald_pass,
            "rake task": lambda: self.peer_pass(["ruby", PEERS / "rake_task.rb"]),
            "Python": lambda: self.peer_pass([self.beside.python, PEERS / "async_job.py"]),
        }
        print(f"{'the store':34}" + "".join(f"{name:>18}" for name in programs))
        for name, fault in FAULTS.items():
            cells = []
            for run in programs.values():
                self.use("trial", "base")
                if fault:
                    self.control("faults", {"store": "google", **fault})
                cells.append(" / ".join(map(str, run())))
                self.control("faults", method="DELETE")
            print(f"{name:34}" + "".join(f"{cell:>18}" for cell in cells), flush=True)


def measure():
    wrongs = Wrongs()
    try:
        wrongs.start()
        wrongs.measure()
    finally:
        wrongs.stop()


if __name__ == "__main__":
    measure()
