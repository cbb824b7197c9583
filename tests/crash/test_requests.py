"""L5-L9, L13, L15: one charge a key, no refund, exact sums, one cap a population."""

import contextlib
import random
import time
from collections import Counter
from fractions import Fraction

import pytest

from privacy.losses import Loss
from server.use_cases.custody.people import PeopleService
from server.use_cases.custody.populations import PopulationService
from server.use_cases.custody.projects import ProjectService
from tests.crash.instruments.books import answers, charges, problems, settle, spent
from tests.crash.instruments.processes import Line, lines, question
from tests.effort import gate_first, rounds
from tests.support.installations.harness import (
    DEFAULT_ROWS,
    Installation,
    empty_snapshot,
)

pytestmark = pytest.mark.thorough
PEOPLE = "population:people"
NANO = 10**9


BOTH = pytest.mark.parametrize("installation", ["sqlite", "postgresql"], indirect=True)
"""For what the databases do differently: many writers at once, and those who leave."""


@pytest.fixture(params=gate_first(1, ["sqlite", "postgresql"]))
def installation(request, tmp_path):
    """A filled installation on each database in turn; in the gate on SQLite."""
    url = ""
    if request.param == "postgresql":
        url = request.getfixturevalue("empty_database")
    installation = Installation(tmp_path, url=url).create()
    installation.load()
    return installation


@pytest.fixture
def server(nursery, installation, key):
    with nursery.serving(installation) as server:
        yield server


@contextlib.contextmanager
def line(server, key):
    with lines(server.port, key, 1) as (one,):
        yield one


@BOTH
def test_one_key_asked_32_times_at_once_is_one_charge_and_one_answer(
    nursery, installation, key
):
    with (
        nursery.serving(installation) as server,
        lines(server.port, key, 32) as clients,
    ):
        for client in clients:
            client.hold(idempotency_key="same")
        for client in clients:
            client.release()
        responses = [client.read() for client in clients]
        statuses = Counter(response.status for response in responses)
        assert set(statuses) <= {200, 409}
        assert statuses[200] >= 1
        later = clients[0].ask(idempotency_key="same")
        other = clients[0].ask(question("2"), idempotency_key="same")
    bodies = {response.body for response in responses if response.status == 200}
    assert bodies == {later.body}
    assert (other.status, other.json()["type"]) == (422, "idempotency_mismatch")
    with nursery.serving(installation) as server, line(server, key) as client:
        again = client.ask(idempotency_key="same")
        assert again.body == later.body
        assert again.headers["idempotency-replayed"] == "true"
    assert len(charges(installation)) == 1
    assert spent(installation, PEOPLE) == NANO


def test_the_key_of_another_analyst_is_independent(server, installation, key):
    other = installation.analyst("bob", "theirs")
    with line(server, key) as ada, line(server, other) as bob:
        one, two = ada.ask(idempotency_key="k"), bob.ask(idempotency_key="k")
    assert (one.status, two.status) == (200, 200)
    assert one.json()["query_id"] != two.json()["query_id"]
    assert spent(installation, PEOPLE) == 2 * NANO


def _settled(installation):
    """Return the charges once those of requests that were hung up on are there too."""
    deadline = time.monotonic() + 10
    while True:
        found = settle(installation)
        paid = sum(nano for _, nano in found.values())
        if paid == spent(installation, PEOPLE) or time.monotonic() > deadline:
            return found


@BOTH
def test_hanging_up_never_refunds_and_every_charge_ends(server, installation, key):
    dice, before = random.Random(), 0
    hangs = rounds(20, 8)
    for number in range(hangs):
        client = Line(server.port, key)
        client.hold(question("0.5"), idempotency_key=f"hang-{number}").release()
        client.timeout = dice.uniform(0.0005, 0.06)
        client._held.settimeout(client.timeout)
        with contextlib.suppress(TimeoutError):
            client.read()
        client.close()
        now = spent(installation, PEOPLE)
        assert now >= before
        before = now
    found = _settled(installation)
    assert {state for state, _ in found.values()} <= {"answered"}
    assert spent(installation, PEOPLE) == sum(nano for _, nano in found.values())
    with line(server, key) as client:
        for number in range(hangs):
            again = client.insist(question("0.5"), idempotency_key=f"hang-{number}")
            assert again.status == 200
    assert spent(installation, PEOPLE) == hangs * NANO // 2


def test_a_failed_execution_is_504_with_one_body_and_its_charge_stays(
    server, installation, key
):
    snapshot = installation.load(dataset="broken")
    empty_snapshot(installation, snapshot)
    with installation.services() as services:
        ProjectService(services, "local:test").grant_dataset("study", "broken")
    sexes = question("1", "SELECT sex, COUNT(*) FROM visits GROUP BY sex")
    with line(server, key) as client:
        failed = client.ask(idempotency_key="f", dataset="broken")
        replayed = client.ask(idempotency_key="f", dataset="broken")
        another = client.ask(sexes, dataset="broken")
    assert [r.status for r in (failed, replayed, another)] == [504] * 3
    assert failed.body == replayed.body
    masked = [{**r.json(), "query_id": ""} for r in (failed, another)]
    assert masked[0] == masked[1]
    assert spent(installation, PEOPLE) == 2 * NANO
    assert answers(installation) == {}


def test_sums_of_random_losses_are_exact_and_the_cap_is_met_to_the_last_nano(
    server, installation, key
):
    dice, total = random.Random(), Fraction(0)
    with line(server, key) as client:
        for _ in range(rounds(40, 15)):
            nano = dice.randint(10**6, 2 * 10**9)
            text = f"{nano // NANO}.{nano % NANO:09d}"
            assert client.ask(question(text)).status == 200
            total += Fraction(text)
        assert spent(installation, PEOPLE) == total * NANO
        with installation.services() as services:
            PopulationService(services, "local:test").set_cap(
                "people", Loss(int(total * NANO) + 2_000_001)
            )
        assert client.ask(question("0.000999999")).status == 422  # below the least
        assert client.ask(question("0.001000001")).status == 200
        assert client.ask(question("0.001000001")).status == 402
        assert client.ask(question("0.001")).status == 200
        assert client.ask(question("0.001")).status == 402
    assert spent(installation, PEOPLE) == total * NANO + 2_000_001


BOUNDARY = [
    ("1", "SELECT COUNT(*) FROM visits WHERE age = 27", 200),
    ("0.6", "SELECT COUNT(DISTINCT patient_id) FROM visits WHERE age = 27", 402),
    ("0.5", "SELECT sex, COUNT(*) FROM visits GROUP BY sex", 200),
    ("0.001", "SELECT COUNT(*) FROM visits", 402),
]


def test_a_refusal_at_the_boundary_is_the_same_whatever_the_data_are(nursery, tmp_path):
    arms = []
    for name, left_out in (("with", "nobody"), ("without", "7,")):
        (tmp_path / name).mkdir()
        arm = Installation(tmp_path / name).create()
        rows = [row for row in DEFAULT_ROWS if not row.startswith(left_out)]
        arm.load(rows, cap="1.5")
        arm_key = arm.analyst(allotment="20")
        with nursery.serving(arm) as server, line(server, arm_key) as client:
            replies = [
                client.ask(question(epsilon, sql)) for epsilon, sql, _ in BOUNDARY
            ]
        assert [r.status for r in replies] == [status for _, _, status in BOUNDARY]
        arms.append([r.body for r in replies if r.status != 200])
        assert spent(arm, PEOPLE) == NANO + NANO // 2
    assert arms[0] == arms[1]


def test_two_datasets_and_a_new_snapshot_of_one_population_share_one_cap(
    server, installation, key
):
    installation.load(dataset="second")
    with installation.services() as services:
        ProjectService(services, "local:test").grant_dataset("study", "second")
        PopulationService(services, "local:test").set_cap("people", Loss.parse("3"))
    with line(server, key) as client:
        assert client.ask().status == 200
        assert client.ask(dataset="second").status == 200
        first = installation.load(DEFAULT_ROWS[:-1], cap="3")
        assert spent(installation, PEOPLE) == 2 * NANO
        third = client.ask()
        assert third.json()["snapshot"] == first
        assert spent(installation, PEOPLE) == 3 * NANO
        for dataset in ("clinic", "second"):
            assert client.ask(question("0.001"), dataset=dataset).status == 402


def test_a_cap_lowered_below_what_is_spent_forgets_nothing(server, installation, key):
    def set_cap(amount):
        with installation.services() as services:
            population = PopulationService(services, "local:test")
            return population.set_cap("people", Loss.parse(amount))

    with line(server, key) as client:
        for _ in range(3):
            assert client.ask().status == 200
        assert set_cap("1")["remaining"] == "0"
        assert client.ask(question("0.001")).status == 402
        assert set_cap("3.5")["remaining"] == "0.5"
        assert client.ask().status == 402
        assert client.ask(question("0.5")).status == 200
        assert client.ask(question("0.001")).status == 402
    assert spent(installation, PEOPLE) == 3 * NANO + NANO // 2
    with installation.services() as services:
        actions = [e for e in services.ledger.export() if e["kind"] == "admin"]
    assert len(actions) >= 2
    assert problems(installation) == []


@pytest.mark.parametrize("stop", ["key", "principal"])
def test_what_is_in_flight_ends_when_its_key_or_principal_stops(
    nursery, installation, key, stop
):
    installation.slot_ms = 300
    few = {"CURATOR_PERMITS": "8"}
    with (
        nursery.serving(installation, environment=few) as server,
        line(server, key) as client,
    ):
        client.hold(idempotency_key="flight").release()
        while not charges(installation):
            pass
        with installation.services() as services:
            service = PeopleService(services, "local:test")
            if stop == "key":
                service.revoke_key(service.keys()[0]["id"])
            else:
                service.disable_principal("ada")
        assert client.read().status == 200
        assert client.ask(idempotency_key="flight").status == 401
        assert client.ask().status == 401
    assert spent(installation, PEOPLE) == NANO
    assert problems(installation) == []
