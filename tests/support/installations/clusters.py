"""A throwaway PostgreSQL from the machine's binaries: initdb, a port of the loopback.

Run as root it becomes an unprivileged user first, since PostgreSQL refuses root.
"""

import itertools
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

from tests.support.installations.harness import free_port

PASSWORD = "throwaway"  # noqa: S105 - of a server that lives for one test run
_SETTINGS = """\
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
fsync = on
max_connections = 200
shared_buffers = 32MB
max_wal_size = 256MB
logging_collector = off
"""


class MissingPostgresError(Exception):
    """There are no binaries of PostgreSQL on this machine."""


def binaries():
    """Return the folder of PostgreSQL's programs.

    Raises:
        MissingPostgresError: There is none.
    """
    versioned = Path("/usr/lib/postgresql").glob("*/bin")
    newest = sorted(versioned, key=lambda path: int(path.parent.name), reverse=True)
    for folder in newest:
        if (folder / "initdb").exists():
            return folder
    found = shutil.which("initdb")
    if found is None:
        raise MissingPostgresError
    return Path(found).resolve().parent


def _new_folder():
    """Make a folder, in memory where there is some: no test cuts the power."""
    memory = Path("/dev/shm")  # noqa: S108 - a folder of our own is made in it
    within = memory if os.access(memory, os.W_OK) else None
    return Path(tempfile.mkdtemp(prefix="curator-pg-", dir=within))


@dataclass
class Cluster:
    """One server with its data; databases are made on it at will."""

    folder: Path = field(default_factory=_new_folder)
    port: int = 0
    _names: itertools.count = field(default_factory=itertools.count)
    _process: subprocess.Popen | None = None
    _spare: str | None = None

    def create(self):
        """Make the cluster and start it."""
        self.port = free_port()
        self.folder.chmod(0o711)
        home = self.folder / "home"
        home.mkdir(mode=0o700)
        secret = home / "password"
        secret.write_text(PASSWORD)
        if os.getuid() == 0:
            for path in (home, secret):
                os.chown(path, _unprivileged().pw_uid, _unprivileged().pw_gid)
        self._run(
            "initdb", "--no-sync", "-A", "scram-sha-256", "-U", "curator",
            "--pwfile", str(secret), "-E", "UTF8", "--locale", "C.UTF-8",
            "-D", str(self.data),
        )  # fmt: skip
        with (self.data / "postgresql.conf").open("a") as out:
            out.write(_SETTINGS)
        self.start()
        return self

    @property
    def data(self):
        return self.folder / "home" / "data"

    def url_of(self, database):
        return (
            f"postgresql+psycopg://curator:{PASSWORD}@127.0.0.1:{self.port}/{database}"
        )

    def start(self, **settings):
        """Start the server, and return once it answers."""
        more = [f"-c{name}={value}" for name, value in settings.items()]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [
                    str(binaries() / "postgres"),
                    *("-D", str(self.data), "-p", str(self.port), *more),
                ],
                stdout=log,
                stderr=log,
                **_as_unprivileged(),
            )
        deadline = time.monotonic() + 30
        while True:
            try:
                self.admin().close()
            except psycopg.OperationalError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.02)
            else:
                return

    def stop(self, how=signal.SIGINT):
        """Stop the server at once: SIGINT checkpoints, SIGQUIT is a crash."""
        self._process.send_signal(how)
        self._process.wait(30)

    def admin(self, database="postgres"):
        """Return a connection of the superuser, outside transactions."""
        url = self.url_of(database).replace("+psycopg", "")
        return psycopg.connect(url, autocommit=True)

    def emptied(self):
        """Return the URL of one database, emptied: quicker than a fresh one."""
        if self._spare is None:
            self._spare = self.database()
        name = self._spare.rpartition("/")[2]
        with self.admin(name) as admin:
            admin.execute("SET client_min_messages = error")
            admin.execute("DROP SCHEMA public CASCADE")
            admin.execute("CREATE SCHEMA public")
        return self._spare

    def database(self, template="template1"):
        """Make a fresh database; return its URL."""
        name = f"test{next(self._names)}"
        with self.admin() as admin:
            admin.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
        return self.url_of(name)

    def close(self):
        """Stop the server and delete everything."""
        if self._process is not None and self._process.poll() is None:
            self.stop(signal.SIGQUIT)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _run(self, program, *arguments):
        subprocess.run(
            [str(binaries() / program), *arguments],
            check=True,
            stdout=subprocess.DEVNULL,
            **_as_unprivileged(),
        )


def _unprivileged():
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    message = "run the tests as an unprivileged user: PostgreSQL refuses root"
    raise RuntimeError(message)


def _as_unprivileged():
    if os.getuid() != 0:
        return {"cwd": "/"}
    return {
        "user": _unprivileged().pw_uid,
        "group": _unprivileged().pw_gid,
        "extra_groups": [],
        "cwd": "/",
    }
