"""An installation whose ledger holds an entry of every kind."""

import contextlib

from budget.ledger import Scope
from privacy.losses import Loss
from server.use_cases.custody.people import PeopleService
from server.use_cases.custody.populations import PopulationService
from server.use_cases.custody.projects import NewProject, ProjectService
from tests.crash.instruments.books import charges
from tests.crash.instruments.processes import Line, question
from tests.support.installations.harness import empty_snapshot

SQL = "SELECT sex, COUNT(DISTINCT patient_id) FROM visits GROUP BY sex"


def fill(nursery, installation):
    """Load, grant, ask, reuse, fail, refuse, revoke; return the analyst's key."""
    installation.load()
    installation.load(dataset="second")
    broken = installation.load(dataset="wrecked")  # a server starts with two in order
    key = installation.analyst()
    other, custodian = _admit_others(installation)
    empty_snapshot(installation, broken)
    with nursery.serving(installation) as server:
        _ask_everything(server, key, other, custodian)
    return key


def _admit_others(installation):
    with installation.services() as services:
        people = PeopleService(services, "local:test")
        people.create_principal("bob", "analyst")
        people.create_principal("cara", "custodian")
        projects = ProjectService(services, "local:test")
        projects.create_project(
            NewProject("poor", ("wrecked",), ("ada",), Loss.parse("3"))
        )
        projects.create_project(
            NewProject(
                "hidden",
                ("clinic",),
                ("bob",),
                Loss.parse("3"),
                private_history=True,
            )
        )
        projects.grant_principal("hidden", "bob", Loss.parse("2"))
        keys = [people.create_key(name) for name in ("bob", "cara", "bob")]
        people.revoke_key(keys[2]["id"])
        PopulationService(services, "local:test").set_cap("people", Loss.parse("90000"))
        assert services.ledger.limit(Scope.population("people")) == Loss.parse("90000")
        return keys[0]["key"], keys[1]["key"]


def _ask_everything(server, key, other, custodian):
    asked = [
        (key, question("0.5"), "clinic", "k1", 200),
        (key, question("0.25", SQL), "clinic", None, 200),
        (key, question("0.25", SQL, reuse="allow"), "clinic", "k2", 200),
        (key, question("1", SQL), "clinic", "k3", 200),
        (other, question("0.75"), "clinic", "k1", 200),
        (other, question("2"), "clinic", None, 402),
        (key, question("1"), "wrecked", "k4", 504),
        (key, question("1"), "wrecked", None, 504),
        (key, question("2"), "wrecked", "k5", 402),
        (custodian, question("1"), "clinic", None, 403),
        (key, question("0.5", reuse="allow"), "clinic", None, 200),
    ]
    for asker, body, dataset, idempotency_key, status in asked:
        with contextlib.closing(Line(server.port, asker)) as line:
            got = line.ask(body, dataset=dataset, idempotency_key=idempotency_key)
            assert got.status == status, got


def assert_filled(installation):
    """Assert that charges, free answers and failures are all there."""
    found = charges(installation)
    assert sorted(state for state, _ in found.values()).count("failed") == 2
    assert [nano for _, nano in found.values()].count(0) == 2
