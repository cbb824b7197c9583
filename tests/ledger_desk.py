"""A ledger on disk, and a program that charges it from a process of its own.

    python -m tests.ledger_desk FOLDER PREFIX COUNT EPSILON

prints how many of COUNT charges were admitted.
"""

import itertools
import json
import sys
from pathlib import Path

from budget.anchor import AnchorFile
from budget.databases import Databases
from budget.ledger import Charged, ChargeRequest, Ledger, Scope
from budget.tables import metadata
from privacy.losses import Loss

SCOPES = (
    Scope.population("people"),
    Scope.project("study"),
    Scope.principal("study", "ada"),
)


class Desk:
    """A ledger on disk with a cap of 10 and an allotment of 5."""

    def __init__(self, folder, prefix="q"):
        self.folder = folder
        self.database = folder / "ledger.sqlite"
        self.databases = Databases(f"sqlite:///{self.database}")
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
        return Ledger(
            self.databases,
            self.anchor,
            is_released=lambda query_id: query_id not in self.hidden,
        )

    def open(self):
        ledger = self.ledger()
        ledger.open()
        return ledger

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


def main(folder, prefix, count, epsilon):
    desk = Desk(Path(folder), prefix)
    ledger = desk.ledger()
    outcomes = [ledger.charge(desk.request(epsilon)) for _ in range(int(count))]
    sys.stdout.write(f"{sum(isinstance(o, Charged) for o in outcomes)}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
