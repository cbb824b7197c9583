"""The ledger alone, by threads, processes and a full disk."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Barrier

import pytest

from budget.ledger import Charged, InFlight, Replay, Scope
from privacy.losses import Loss
from tests.support.installations.stored_ledgers import (
    PostgresStoredLedger,
    StoredLedger,
)

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parents[3]
PROJECT = Scope.project("study")
POPULATION = Scope.population("people")


@pytest.fixture(params=["sqlite", "postgresql"])
def stored(request, tmp_path):
    if request.param == "sqlite":
        stored = StoredLedger(tmp_path)
    else:
        url = request.getfixturevalue("empty_database")
        stored = PostgresStoredLedger(tmp_path, request.getfixturevalue("cluster"), url)
    stored.create()
    yield stored
    stored.databases.close()


def at_once(count, works):
    barrier = Barrier(count)

    def run(work):
        barrier.wait()
        return work()

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(run, works))


def test_two_concurrent_charges_cannot_both_take_the_last_epsilon(stored):
    ledger = stored.open()
    for taken in range(1, 6):
        requests = [stored.request("1"), stored.request("1")]
        with ledger.recorded("allot", "local:test") as change:
            change.set_limit(PROJECT, Loss.parse(str(taken)))
        outcomes = at_once(2, [partial(ledger.charge, r) for r in requests])
        assert sorted(type(o).__name__ for o in outcomes) == ["Charged", "Refused"]
        assert ledger.spent(PROJECT) == Loss.parse(str(taken))
    assert ledger.verify([]).ok


@pytest.mark.slow
def test_four_processes_spend_exactly_what_is_allowed(stored):
    command = [
        sys.executable,
        "-m",
        "tests.support.installations.stored_ledgers",
        str(stored.folder),
        stored.url,
    ]
    children = [
        subprocess.Popen(
            [*command, f"p{number}-", "40", "0.05"],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(4)
    ]
    admitted = [int(child.communicate(timeout=120)[0]) for child in children]
    ledger = stored.open()
    assert sum(admitted) == 100
    assert ledger.spent(PROJECT) == ledger.spent(POPULATION) == Loss.parse("5")
    assert sum(e["kind"] == "refused" for e in ledger.export()) == 60
    assert ledger.verify([]).ok


def test_one_key_from_many_threads_is_charged_once_and_answered_alike(stored):
    ledger = stored.open()
    requests = [
        stored.request("0.5", idempotency_key="k", fingerprint="f") for _ in range(32)
    ]

    def ask(request):
        outcome = ledger.charge(request)
        if isinstance(outcome, Charged):
            return ledger.store_answer(outcome.charge, request.query_id.encode())
        while isinstance(outcome, InFlight):
            outcome = ledger.lookup_key("ada", "k", "f")
        assert isinstance(outcome, Replay)
        return outcome.body

    assert len(set(at_once(32, [partial(ask, request) for request in requests]))) == 1
    assert ledger.spent(PROJECT) == Loss.parse("0.5")
    assert isinstance(stored.open().lookup_key("ada", "k", "f"), Replay)


def test_verify_is_green_while_others_write(stored):
    ledger = stored.open()

    def verify():
        return [ledger.verify([]).problems for _ in range(10)]

    def charge():
        return [ledger.charge(stored.request("0.01")) for _ in range(20)]

    verified, *_ = at_once(3, [verify, charge, charge])
    assert verified == [()] * 10


_FULL_DISK = """
import resource, sys
from pathlib import Path
from budget.ledger import Charged, Scope
from privacy.errors import LedgerUnavailableError
from tests.support.installations.stored_ledgers import StoredLedger

stored = StoredLedger(Path(sys.argv[1]))
ledger = stored.open()
_, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
largest = max(path.stat().st_size for path in stored.folder.iterdir())
resource.setrlimit(resource.RLIMIT_FSIZE, (largest + 150_000, hard))
charged = 0
padding = "x" * 3_000
try:
    while True:
        ledger.charge(stored.request("0.001", request_json=padding))
        charged += 1
except LedgerUnavailableError as error:
    assert error.query_id is None
for _ in range(3):
    try:
        ledger.charge(stored.request("0.001", request_json=padding * 20))
        raise SystemExit("a full disk took a charge")
    except LedgerUnavailableError:
        pass
assert ledger.spent(Scope.project("study")).nano_epsilon == charged * 10**6
resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
assert isinstance(ledger.charge(stored.request("0.001")), Charged)
print(charged + 1)
"""


@pytest.mark.parametrize("stored", ["sqlite"], indirect=True)
def test_a_full_disk_charges_nothing_and_mends_by_itself(stored):
    child = subprocess.run(
        [sys.executable, "-c", _FULL_DISK, str(stored.folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert child.returncode == 0, child.stderr
    ledger = stored.open()
    charged = int(child.stdout)
    assert charged > 1
    assert ledger.spent(PROJECT) == Loss(charged * 10**6)
    assert ledger.verify([]).ok
