"""A PostgreSQL server of one test session: started on a socket of its own, ended with it."""

import os
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

BOTH = ("sqlite", pytest.param("postgres", marks=pytest.mark.nightly))
"""The databases that can hold a store, as the parameters of a fixture."""

PASSWORD = "p@ss/w:rd"
QUOTED = "p%40ss%2Fw%3Ard"


def programs():
    """The folder of the server's programs, ``None`` where it is not installed."""
    inside = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    name = inside[-1] if inside else shutil.which("initdb")
    return Path(name).parent if name else None


def new_url(request, folder):
    """The URL of a new store on the database of a fixture's parameter."""
    if request.param == "postgres":
        return request.getfixturevalue("postgres_server").new()
    return f"sqlite:///{folder / 'store.db'}"


@contextmanager
def running():
    """A server, ended on every way out."""
    if programs() is None:
        pytest.skip("no PostgreSQL server is installed here (Debian: apt-get install postgresql)")
    server = Server()
    try:
        yield server
    finally:
        server.remove()


class Server:
    """A server; databases in it are made with ``new``."""

    def __init__(self):
        self.programs = programs()
        self.place = Path(tempfile.mkdtemp(prefix="pg"))
        self._as_user = ["setpriv", "--pdeathsig=QUIT"]  # it ends where the tests are killed
        if os.geteuid() == 0:  # which initdb refuses
            shutil.chown(self.place, "postgres")
            self._as_user += ["--reuid=postgres", "--regid=postgres", "--init-groups"]
        (self.place / "password").write_text(PASSWORD)
        (self.place / "password").chmod(0o644)
        self._run("initdb", "-D", self.place / "data", "-U", "owner", "-E", "UTF8", "--locale=C",
                  "--auth=scram-sha-256", "--pwfile", self.place / "password", "--no-sync",
                  "--no-instructions")  # fmt: skip
        self._process = None
        self.start()

    def start(self, *options, fsync="off"):
        """Start it, with these options; returns when it takes connections."""
        log = (self.place / "log").open("a")
        server = [self.programs / "postgres", "-D", self.place / "data", "-k", self.place,
                  "-c", "listen_addresses=", "-c", f"fsync={fsync}", *options]  # fmt: skip
        self._process = subprocess.Popen([*self._as_user, *server], cwd="/", stdout=log, stderr=log)
        log.close()
        deadline = time.monotonic() + 240
        while "ready" not in self._status():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise RuntimeError((self.place / "log").read_text())
            time.sleep(0.02)

    def stop(self, how=signal.SIGQUIT):
        """Stop it as ``pg_ctl stop -m immediate`` does: without any good-bye."""
        if self._process.poll() is None:
            self._process.send_signal(how)
        self._process.wait(30)

    def remove(self):
        self.stop()
        shutil.rmtree(self.place)

    def url(self, database="postgres", user="owner", password=QUOTED, **query):
        words = "".join(f"&{name}={value}" for name, value in query.items())
        return f"postgresql://{user}:{password}@/{database}?host={self.place}{words}"

    def new(self):
        """The URL of a new empty schema: a database of its own takes twenty times as long."""
        name = f"s{secrets.token_hex(4)}"
        self.sql(f"CREATE SCHEMA {name}")
        return self.url(options=f"-csearch_path%3D{name}")

    def sql(self, statement, url=None):
        """The rows of a statement, if it has any."""
        import psycopg

        with psycopg.connect(url or self.url(), autocommit=True) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def _status(self):
        pid = self.place / "data" / "postmaster.pid"
        try:
            lines = pid.read_text().splitlines()
        except OSError:
            return ""
        own = len(lines) > 7 and lines[0] == str(self._process.pid)
        return lines[7] if own else ""

    def _run(self, program, *arguments):
        command = [*self._as_user, self.programs / program, *arguments]
        subprocess.run(command, cwd="/", check=True, capture_output=True)
