"""A ledger on disk, and a program that charges it from a process of its own.

    python -m tests.support.installations.stored_ledgers FOLDER URL PREFIX COUNT EPSILON

prints how many of COUNT charges were admitted.
"""

import itertools
import json
import shutil
import sqlite3
import sys
from pathlib import Path

from sqlalchemy import make_url

from budget.chain.anchor import AnchorFile
from budget.ledger import Charged, ChargeRequest, Ledger, Scope
from budget.storage.databases import Databases
from budget.storage.tables import metadata
from privacy.losses import Loss

SCOPES = (
    Scope.population("people"),
    Scope.project("study"),
    Scope.principal("study", "ada"),
)


class PromptLedger(Ledger):
    """A ledger whose replies leave as soon as they are stored, unless hidden."""

    def __init__(self, databases, anchor, *, hidden=()):
        super().__init__(databases, anchor, is_released=lambda q: q not in hidden)
        self._hidden = hidden

    def store_answer(self, paid, body):
        stored = super().store_answer(paid, body)
        self._leave(paid.query_id)
        return stored

    def store_free(self, request, source_query_id, body, pieces=None):
        settled = super().store_free(request, source_query_id, body, pieces)
        self._leave(request.query_id)
        return settled

    def fail(self, query_id):
        super().fail(query_id)
        self._leave(query_id)

    def _leave(self, query_id):
        if query_id not in self._hidden:
            self.release([query_id])


class StoredLedger:
    """A ledger with a cap of 10 and an allotment of 5; on SQLite unless told."""

    def __init__(self, folder, prefix="q", url=None):
        self.folder = folder
        self.database = folder / "ledger.sqlite"
        self.url = url or f"sqlite:///{self.database}"
        self.databases = Databases(self.url)
        self.anchor = AnchorFile(folder / "anchor")
        self._ids = (f"{prefix}{number}" for number in itertools.count())
        self.hidden = set()

    def create(self):
        metadata.create_all(self.databases.writer)
        Ledger.initialise(self.databases, self.anchor, actor="local:test")
        ledger = self.open()
        with ledger.recorded("setup", "local:test") as change:
            change.set_limit(SCOPES[0], Loss.parse("10"))
            change.set_limit(SCOPES[1], Loss.parse("5"))
        return ledger

    def ledger(self):
        return PromptLedger(self.databases, self.anchor, hidden=self.hidden)

    def open(self):
        ledger = self.ledger()
        ledger.open()
        return ledger

    def back_up(self):
        """Copy the database, as a backup does; ``restore`` brings it back."""
        with sqlite3.connect(self.database) as source:
            source.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        shutil.copy(self.database, self.folder / "backup")

    def restore(self):
        self.databases.close()
        for suffix in ("", "-wal", "-shm"):
            (self.folder / f"ledger.sqlite{suffix}").unlink(missing_ok=True)
        shutil.copy(self.folder / "backup", self.database)

    def request(self, epsilon="1", **changes):
        fields = {
            "query_id": next(self._ids),
            "principal": "ada",
            "project": "study",
            "population": "people",
            "dataset": "stays",
            "snapshot": "s1",
            "scopes": SCOPES,
            "loss": Loss.parse(epsilon),
            "question": "how many",
            "private_history": False,
            "idempotency_key": None,
            "fingerprint": None,
            "request_json": json.dumps({"sql": "SELECT"}),
        }
        return ChargeRequest(**{**fields, **changes})


class PostgresStoredLedger(StoredLedger):
    """A ledger on a database of a throwaway cluster."""

    def __init__(self, folder, cluster, url):
        super().__init__(folder, url=url)
        self.cluster = cluster

    def back_up(self):
        self._copy("{0}", "{0}_backup")

    def restore(self):
        self._copy("{0}_backup", "{0}")

    def _copy(self, source, target):
        name = make_url(self.url).database
        self.databases.close()
        with self.cluster.admin() as admin:
            admin.execute(f"DROP DATABASE IF EXISTS {target.format(name)}")
            admin.execute(
                f"CREATE DATABASE {target.format(name)} TEMPLATE {source.format(name)}"
            )


def main(folder, url, prefix, count, epsilon):
    stored = StoredLedger(Path(folder), prefix, url)
    ledger = stored.ledger()
    outcomes = [ledger.charge(stored.request(epsilon)) for _ in range(int(count))]
    sys.stdout.write(f"{sum(isinstance(o, Charged) for o in outcomes)}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
