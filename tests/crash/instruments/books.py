"""Looking into a ledger's database from outside, and waiting for it to settle."""

import contextlib
import sqlite3
import time

import psycopg

from budget.charging.noisy_vectors import document_of
from budget.charging.splices import Splice
from server.use_cases.oversight.auditing import AuditService

SETTLE_SECONDS = 60


@contextlib.contextmanager
def database(installation):
    """Open the database for a moment, plainly."""
    path = installation.data / "curator.sqlite"
    with contextlib.closing(sqlite3.connect(path, timeout=30)) as held:
        yield held


def spent(installation, scope):
    """Return what a scope has spent, in nano-epsilon."""
    found = dict(_rows(installation, "SELECT scope, nano_epsilon FROM budget_counter"))
    return found.get(scope, 0)


def charges(installation):
    """Return {query id: (state, nano-epsilon)}."""
    rows = _rows(installation, "SELECT query_id, state, nano_epsilon FROM charge")
    return {query_id: (state, nano) for query_id, state, nano in rows}


def answers(installation):
    """Return {query id: the bytes that its stored answer stands for}."""
    rows = _rows(installation, "SELECT query_id, body, spliced_from FROM answer")
    stored = {query_id: bytes(body) for query_id, body, _ in rows}
    return {
        query_id: Splice.decode(bytes(body)).rebuilt(stored[source])
        if source
        else document_of(bytes(body))
        for query_id, body, source in rows
    }


def stored_bytes(installation):
    """Return what all stored answers take."""
    ((size,),) = _rows(installation, "SELECT SUM(LENGTH(body)) FROM answer")
    return size


def _rows(installation, sql):
    if not installation.url:
        with database(installation) as held:
            return held.execute(sql).fetchall()
    with postgres(installation) as held:
        return held.execute(sql).fetchall()


def postgres(installation):
    """Open the database of an installation on PostgreSQL, outside transactions."""
    url = installation.url.replace("+psycopg", "")
    return psycopg.connect(url, autocommit=True)


def outwait_leases(installation):
    """Let the 15 seconds pass after which a dead process's leases are lost."""
    if installation.url:
        with postgres(installation) as held:
            held.execute("UPDATE boot SET renewed_ms = 0")


def settle(installation):
    """Wait until no charge is under way; return the charges.

    Raises:
        TimeoutError: Some charge did not end.
    """
    deadline = time.monotonic() + SETTLE_SECONDS
    while time.monotonic() < deadline:
        found = charges(installation)
        if all(state != "running" for state, _ in found.values()):
            return found
        time.sleep(0.05)
    message = "a charge neither was answered nor failed"
    raise TimeoutError(message)


def problems(installation):
    """Return what ``ledger verify`` finds."""
    with installation.services() as services:
        return AuditService(services, "local:test").verify()["problems"]
