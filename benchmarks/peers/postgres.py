"""A throwaway PostgreSQL on loopback, as durable as by default."""

import os
import pwd
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def _binary(name: str) -> str:
    found = shutil.which(name) or next(
        map(str, sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))), None
    )
    if found is None:
        message = f"there is no {name} here: install PostgreSQL"
        raise RuntimeError(message)
    return found


@contextmanager
def throwaway(folder: Path) -> Iterator[str]:
    """Run a server in ``folder`` until the block ends; yield its DSN without a name."""
    user = "nobody" if os.getuid() == 0 else pwd.getpwuid(os.getuid()).pw_name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    shutil.chown(folder, user)
    for parent in folder.parents:  # initdb must be able to come here
        if parent.stat().st_uid == os.getuid() and parent != Path("/"):
            parent.chmod(parent.stat().st_mode | 0o011)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    runs_as = user if os.getuid() == 0 else None
    quiet = {"stdout": subprocess.DEVNULL}
    subprocess.run(
        [_binary("initdb"), "-D", folder / "db", "-U", "bench", "-A", "trust", "-N"],
        user=runs_as,
        cwd=folder,
        check=True,
        **quiet,
    )
    server = subprocess.Popen(
        [
            *(_binary("postgres"), "-D", folder / "db", "-p", str(port)),
            *("-c", "listen_addresses=127.0.0.1", "-k", folder),
            *("-c", "shared_buffers=1GB", "-c", "max_connections=200"),
        ],
        user=runs_as,
        cwd=folder,
        stderr=subprocess.DEVNULL,
    )
    try:
        ready = [_binary("pg_isready"), "-h", "127.0.0.1", "-p", str(port), "-t", "1"]
        while subprocess.run(ready, check=False, **quiet).returncode:
            pass
        for name in ("peers", "curator"):
            create = [_binary("createdb"), "-h", "127.0.0.1", "-p", str(port)]
            subprocess.run(
                [*create, "-U", "bench", "-E", "UTF8", "-T", "template0", name],
                check=True,
            )
        yield f"host=127.0.0.1 port={port} user=bench"
    finally:
        server.terminate()
        server.wait(60)
