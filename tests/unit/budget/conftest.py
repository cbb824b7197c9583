import itertools
import json

import pytest

from budget.anchor import AnchorFile
from budget.databases import Databases
from budget.ledger import ChargeRequest, Ledger, Scope
from budget.tables import metadata
from privacy.losses import Loss

SCOPES = (
    Scope.population("people"),
    Scope.project("study"),
    Scope.principal("study", "ada"),
)


class Desk:
    """A ledger on disk with a cap of 10 and an allotment of 5."""

    def __init__(self, folder):
        self.folder = folder
        self.databases = Databases(f"sqlite:///{folder / 'ledger.sqlite'}")
        self.anchor = AnchorFile(folder / "anchor")
        self._ids = itertools.count()
        self.hidden = set()

    def create(self):
        metadata.create_all(self.databases.writer)
        Ledger.initialise(self.databases, self.anchor, actor="local:test")
        ledger = self.open()
        with ledger.recorded("setup", "local:test") as change:
            change.set_limit(SCOPES[0], Loss.parse("10"))
            change.set_limit(SCOPES[1], Loss.parse("5"))
        return ledger

    def open(self):
        ledger = Ledger(
            self.databases,
            self.anchor,
            is_released=lambda query_id: query_id not in self.hidden,
        )
        ledger.open()
        return ledger

    def request(self, epsilon="1", **changes):
        fields = {
            "query_id": f"q{next(self._ids)}",
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


@pytest.fixture
def desk(tmp_path):
    desk = Desk(tmp_path)
    yield desk
    desk.databases.close()


@pytest.fixture
def ledger(desk):
    return desk.create()
