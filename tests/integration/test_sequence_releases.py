"""Sequences, from a spec to signed files: charged once, whole, and verifiable."""

import pytest

from budget.ledger import Scope
from release.store import open_release, problems_in
from tests.harness import Installation
from tests.level_one import register
from tests.publishing import Press


def tree(name="paths", **more):
    """Return a spec over the test's table of visits."""
    plain = {
        "name": name,
        "dataset": "clinic",
        "kind": "sequences",
        "strategy": "level_one",
        "from": "visits",
        "order": "day",
        "symbol": {"column": "ward"},
        "max_length": 3,
        "split": {"column": "sex"},
        "epsilon": "0.5",
    }
    return {key: value for key, value in {**plain, **more}.items() if value is not None}


@pytest.fixture
def quick(tmp_path):
    register()
    made = Installation(tmp_path).create()
    made.load()
    return made


@pytest.fixture
def press(quick):
    return Press(quick)


def test_sequences_are_published_whole_and_charged_once(press):
    job = press.publish(tree())
    assert job["state"] == "done", job
    result = job["result"]
    assert result["max_length"] == 3
    (folder,) = press.folders()
    assert problems_in(folder) == []
    manifest = open_release(folder).manifest
    assert manifest["kind"] == "sequences"
    with press.services() as services:
        assert str(services.ledger.spent(Scope.population("people"))) == "0.5"
    with press.office() as office:
        assert office.problems() == []
