"""Without --single-custodian, what needs two persons is refused with the reason."""

import pytest

from server.bootstrap import initialise

REASON = "needs two persons"


@pytest.fixture
def curator(bare):
    """Commands on an installation that was not told to have one custodian."""
    initialise(bare.installation.settings, single_custodian=False)
    return bare


def test_init_without_the_option_records_that_two_are_needed(bare):
    assert bare.json("init")["single_custodian"] == "false"


def test_creating_a_population_is_refused(curator):
    manifest = curator.installation.write_manifest()
    before = curator.kinds()
    for command in (("population", "create"), ("dataset", "load")):
        said = curator.said(*command, manifest)
        assert REASON in said
        assert "--single-custodian" in said
    assert curator.kinds() == before
    assert list((curator.installation.data / "snapshots").iterdir()) == []


def test_what_one_person_may_do_is_done(curator):
    curator.run("principal", "create", "ada", "--role", "analyst")
    curator.run("key", "create", "ada")
    assert curator.json("ledger", "verify")["ok"]
