"""What every measurement stands on: a private PostgreSQL, the simulated stores, one renewald.

RENEWALD_BIN names the folder of the release binaries; RENEWALD_PROGRAM another renewald than the one there.
"""

import json, os, pwd, shutil, signal, ssl, subprocess, sys, tempfile, time, urllib.request
from pathlib import Path

APP = "com.example.reader"


class World:
    """PostgreSQL in a folder of its own, the simulated stores, and renewald between them."""

    def __init__(self):
        self.binaries = Path(os.environ["RENEWALD_BIN"])
        self.program = os.environ.get("RENEWALD_PROGRAM") or str(self.binaries / "renewald")
        self.folder = Path(tempfile.mkdtemp(prefix="rw-bench-", dir="/tmp"))
        self.folder.chmod(0o755)
        self.postgres = max(
            Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: float(path.parent.name))
        self.simulator = None
        self.log = open(self.folder / "renewald.log", "wb")

    def account(self):
        """PostgreSQL refuses to run as root."""
        return ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []

    def tool(self, name, *arguments):
        subprocess.run(
            [*self.account(), str(self.postgres / name), *arguments], check=True,
            stdout=subprocess.DEVNULL, cwd="/tmp")

    def start(self):
        data = self.folder / "pg"
        data.mkdir()
        if os.getuid() == 0:
            entry = pwd.getpwnam("postgres")
            os.chown(data, entry.pw_uid, entry.pw_gid)
        self.tool("initdb", "-D", str(data), "-A", "trust", "-U", "postgres", "--no-sync")
        self.tool(
            "pg_ctl", "-D", str(data), "-l", str(data / "log"), "-w", "start", "-o",
            f"-c unix_socket_directories={data} -c listen_addresses='' -c shared_buffers=512MB "
            "-c max_wal_size=4GB -c checkpoint_timeout=30min")
        self.conninfo = f"host={data} user=postgres dbname=postgres"
        self.simulator = subprocess.Popen(
            [self.binaries / "storesim", "serve", "--directory", self.folder / "stores",
             "--clock", self.instant(-3600)],
            stdout=subprocess.PIPE, text=True)
        self.origin = self.simulator.stdout.readline().split()[-1]
        self.trust = ssl.create_default_context(cafile=self.folder / "stores" / "ca.pem")
        self.configure("")
        self.renewald("migrate")

    def configure(self, more, apps=lambda text: text):
        """Writes renewald.toml: the simulator's stores and apps, and `more` of the caller's."""
        stores = apps((self.folder / "stores" / "renewald.toml").read_text())
        (self.folder / "renewald.toml").write_text(
            f'[database]\nurl = "{self.conninfo}"\n{stores}{more}')

    @staticmethod
    def instant(offset=0):
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + offset))

    def stop(self):
        if self.simulator:
            self.simulator.send_signal(signal.SIGTERM)
            self.simulator.wait()
        if (self.folder / "pg" / "postmaster.pid").exists():
            self.tool("pg_ctl", "-D", str(self.folder / "pg"), "-m", "immediate", "-w", "stop")
        shutil.rmtree(self.folder, ignore_errors=True)

    def renewald(self, *arguments):
        """Runs a command; gives its output, wall seconds, CPU seconds and peak memory in MiB."""
        reader, writer = os.pipe()
        began = time.monotonic()
        child = os.fork()
        if child == 0:
            os.dup2(writer, 1)
            os.dup2(self.log.fileno(), 2)
            os.execv(
                self.program,
                [self.program, *arguments, "--config", str(self.folder / "renewald.toml")])
        os.close(writer)
        with os.fdopen(reader) as output:
            text = output.read()
        _, status, usage = os.wait4(child, 0)
        seconds = time.monotonic() - began
        code = os.waitstatus_to_exitcode(status)
        if code not in (0, 75):
            print((self.folder / "renewald.log").read_text()[-2000:], file=sys.stderr)
            raise SystemExit(f"renewald {' '.join(arguments)} ended with {code}: {text}")
        return text, seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024

    def control(self, path, body=None, method=None):
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(
            f"{self.origin}/control/{path}", data=data, method=method)
        with urllib.request.urlopen(request, context=self.trust) as reply:
            return json.loads(reply.read() or b"{}")

    def sql(self, text):
        done = subprocess.run(
            ["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", self.conninfo], input=text, text=True,
            stdout=subprocess.PIPE, check=True)
        return done.stdout.strip()

    def wal(self):
        return int(self.sql("SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint"))
