"""L8: disks that fill and syncs that fail, under a server that goes on running."""

import contextlib
import os
import resource
import shutil
import subprocess
from collections import Counter
from dataclasses import dataclass, field

import pytest

from tests.crash.instruments.books import answers, charges, settle, spent
from tests.crash.instruments.processes import lines, question

IN_FLIGHT = 4
PAGE_BYTES = 4_096
_UNLIMITED = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)


@dataclass
class Trouble:
    """What clients met while the disk failed, and after; ``wrong`` must stay empty."""

    server: object
    installation: object
    key: str
    statuses: Counter = field(default_factory=Counter)
    codes: Counter = field(default_factory=Counter)
    wrong: list = field(default_factory=list)


@contextlib.contextmanager
def small_disk(folder, size_bytes):
    """Mount a file system of a size on a folder; skip, saying so, where one may not."""
    folder.mkdir(exist_ok=True)
    how = ["mount", "-t", "tmpfs", "-o", f"size={size_bytes},mode=711", "tmpfs"]
    done = subprocess.run([*how, str(folder)], capture_output=True, check=False)
    if done.returncode != 0:
        pytest.skip("SKIPPED DISK TEST: file systems may not be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@contextlib.contextmanager
def filled(folder, left_bytes):
    """Fill a folder's file system but for some bytes, for a block's length."""
    ballast = folder / "ballast"
    size = shutil.disk_usage(folder).free - left_bytes
    with ballast.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, size)
    try:
        yield
    finally:
        ballast.unlink()


@contextlib.contextmanager
def full_disk(server, size_bytes):
    """Let the server's files grow to a size and no further, for a block's length."""
    resource.prlimit(
        server.pid, resource.RLIMIT_FSIZE, (size_bytes, resource.RLIM_INFINITY)
    )
    try:
        yield
    finally:
        resource.prlimit(server.pid, resource.RLIMIT_FSIZE, _UNLIMITED)


def run_full_disks(trouble, dice, count):
    """Fill the disk ``count`` times at random points of the ledger's growth."""
    log = trouble.installation.data / "curator.sqlite-wal"
    for number in range(count):
        room = dice.choice([0, dice.randint(1, 80 * PAGE_BYTES)])
        size = 1 if number % 5 == 0 else log.stat().st_size + room
        ask_in_trouble(trouble, f"full-{number}", full_disk(trouble.server, size))


def ask_in_trouble(trouble, name, failing):
    """Ask while ``failing`` is entered; then again, when all is well."""
    installation = trouble.installation
    before = spent(installation, "population:people")
    names = [f"{name}-{place}" for place in range(IN_FLIGHT)]
    seen = {}
    with lines(trouble.server.port, trouble.key, 2 * IN_FLIGHT) as clients:
        with failing:
            for client, idempotency_key in zip(clients, names, strict=False):
                client.hold(question("0.5"), idempotency_key=idempotency_key)
                client.release()
            for client, idempotency_key in zip(clients, names, strict=False):
                seen[idempotency_key] = client.read()
        trouble.wrong += _read_problems(trouble, installation, seen, before)
        settle(installation)  # by itself
        for client, idempotency_key in zip(clients[IN_FLIGHT:], names, strict=True):
            again = client.insist(question("0.5"), idempotency_key=idempotency_key)
            trouble.wrong += _retry_problems(seen[idempotency_key], again)


def _read_problems(trouble, installation, seen, before):
    """Return what is wrong of responses that came while the disk failed."""
    wrong, paid, stored = [], charges(installation), answers(installation)
    if spent(installation, "population:people") < before:
        wrong.append("what was spent fell")
    for name, response in seen.items():
        status = None if response is None else response.status
        trouble.statuses[status] += 1
        if status == 200:
            query_id = response.json()["query_id"]
            if query_id not in paid or stored.get(query_id) != response.body:
                wrong.append(f"{name}: 200 without a charge or a stored answer")
            continue
        problem = {} if response is None else response.json()
        trouble.codes[problem.get("type"), "query_id" in problem] += 1
        if problem.get("type") != "ledger_unavailable":
            wrong.append(f"{name}: {response}")
        elif "query_id" in problem and problem["query_id"] not in paid:
            wrong.append(f"{name}: names a charge that is not there")
        elif ("query_id" in problem) != ("charged" in problem["detail"]):
            wrong.append(f"{name}: {problem['detail']}")
    return wrong


def _retry_problems(first, again):
    """Return what is wrong of a retry on a healthy disk."""
    if again is None or again.status != 200:
        return [f"after the trouble: {again}"]
    if first is not None and first.status == 200 and first.body != again.body:
        return ["a replay brought other bytes"]
    charged = None if first is None else first.json().get("query_id")
    if charged is not None and again.json()["query_id"] != charged:
        return ["a retry was charged anew"]
    return []
