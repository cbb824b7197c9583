"""Changes whose process fails or dies between their commit and their anchor.

    python -m tests.crash.instruments.unanchored FOLDER URL WHAT HOW

FAILS: the anchor's disk refuses the write, and the process ends in good order. DIES: it
ends there at once, as with SIGKILL.
"""

import errno
import os
import sys
import threading
from pathlib import Path

from budget.chain.anchor import HeldAnchor
from budget.ledger import ChargeRequest, Ledger, Scope
from privacy.errors import LedgerUnavailableError
from privacy.losses import Loss
from server.bootstrap import make_runner
from server.use_cases.custody.people import PeopleService
from server.use_cases.custody.populations import PopulationService
from server.use_cases.custody.projects import ProjectService
from tests.support.installations.harness import ImportingInstallation

ACTOR = "local:test"
QUERY = "q_unanchored"


def fails(*_):
    raise OSError(errno.ENOSPC, "no space left on device")


def dies(*_):
    os._exit(9)


HOW = {"fails": fails, "dies": dies}


def grant(services, ill):
    ill()
    ProjectService(services, ACTOR).grant_dataset("study", "second")


def key(services, ill):
    ill()
    PeopleService(services, ACTOR).create_key("bob")


def cap(services, ill):
    ill()
    PopulationService(services, ACTOR).set_cap("people", Loss.parse("200000"))


def revocation(services, ill):
    ill()
    PeopleService(services, ACTOR).disable_principal("ada")


def enabling(services, ill):
    ill()
    PeopleService(services, ACTOR).enable_principal("eva")


def answer(services, ill):
    snapshot = "s"
    request = ChargeRequest(
        query_id=QUERY,
        principal="ada",
        project="study",
        population="people",
        dataset="clinic",
        snapshot=snapshot,
        scopes=(Scope.population("people"),),
        loss=Loss.parse("1"),
        question="how many",
        private_history=False,
        idempotency_key=None,
        fingerprint=None,
        request_json="{}",
    )
    charged = services.ledger.charge(request)
    ill()
    services.ledger.store_answer(charged.charge, b'{"rows": []}')


def release(services, ill):
    """Run the one job that is queued; its publishing is what is not anchored."""
    store_work = Ledger.store_work

    def store(*arguments):
        ill()
        return store_work(*arguments)

    Ledger.store_work = store
    make_runner(services, threading.Event(), beat_seconds=0.05).run_one()


CHANGES = {
    work.__name__: work
    for work in (grant, key, cap, revocation, enabling, answer, release)
}


def main(folder, url, what, how):
    def ill():
        HeldAnchor.write = HOW[how]

    with ImportingInstallation(Path(folder), url=url).services() as services:
        try:
            CHANGES[what](services, ill)
        except LedgerUnavailableError:
            sys.exit(3)


if __name__ == "__main__":
    main(*sys.argv[1:])
