"""What was read of the catalogue is remembered until the catalogue changes."""

from contextvars import copy_context

import pytest

from server.use_cases.custody.people import PeopleService
from server.use_cases.services.errors import NotFoundError
from server.use_cases.services.remembered import CatalogueMemory
from tests.support.installations.harness import Installation


@pytest.fixture
def services(tmp_path):
    installation = Installation(tmp_path).create()
    with installation.services() as services:
        yield services


class Reader:
    def __init__(self):
        self.calls = 0

    def __call__(self, _):
        self.calls += 1
        return self.calls


def test_an_unchanged_catalogue_is_read_once(services):
    read = Reader()
    assert [services.catalogue.get("question", read) for _ in range(3)] == [1, 1, 1]


def test_every_recorded_change_is_seen_at_once(services):
    read = Reader()
    services.catalogue.get("question", read)
    PeopleService(services, "local:test").create_principal("ada", "analyst")
    assert services.catalogue.get("question", read) == 2


def test_another_process_sees_the_change_too(services):
    memory, read = CatalogueMemory(services.databases), Reader()
    memory.get("question", read)
    PeopleService(services, "local:test").create_principal("ada", "analyst")
    assert memory.get("question", read) == 2


def test_charges_and_refusals_change_nothing(services):
    read = Reader()
    services.catalogue.get("question", read)
    services.ledger.refuse("ada", "forbidden", {})
    assert services.catalogue.get("question", read) == 1


ENDS = [
    "release.publish",
    "release.fail",
    "overlap.refused",
    "proposal.create",
    "text.begin",
    "dataset.load",
    "snapshot.activate",
]


@pytest.mark.parametrize("action", ENDS)
def test_what_tells_of_rights_is_not_forgotten_when_work_on_rows_ends(services, action):
    """To read it anew takes longer, which everybody could measure."""
    read = Reader()
    services.catalogue.get("question", read)
    with services.ledger.recorded(action, "local:test"):
        pass
    assert services.catalogue.get("question", read) == 1
    with services.ledger.recorded("release.withdraw", "local:test"):
        pass
    assert services.catalogue.get("question", read) == 2


@pytest.mark.parametrize("action", ENDS)
def test_what_names_a_snapshot_is_read_anew_after_loads_and_activations(
    services, action
):
    read = Reader()
    services.catalogue.get("question", read, names_snapshot=True)
    with services.ledger.recorded(action, "local:test"):
        pass
    is_altered = action in {"dataset.load", "snapshot.activate"}
    found = services.catalogue.get("question", read, names_snapshot=True)
    assert found == 1 + is_altered


def test_an_old_change_stays_the_last_one_however_much_comes_after_it(services):
    read = Reader()
    for action in ("principal.create", "dataset.load", "release.publish") * 2:
        with services.ledger.recorded(action, "local:test"):
            pass
        services.catalogue.get("question", read)
    assert read.calls == 2  # once for each principal


def test_a_refusal_is_never_remembered(services):
    def refuse(_):
        raise NotFoundError

    with pytest.raises(NotFoundError):
        services.catalogue.get("question", refuse)
    assert services.catalogue.get("question", Reader()) == 1


def test_one_request_sees_one_state_and_the_next_one_sees_the_change(services):
    read = Reader()

    def ask_twice():
        services.catalogue.see_one_state()
        services.catalogue.get("question", read)
        PeopleService(services, "local:test").create_principal("ada", "analyst")
        return services.catalogue.get("question", read)

    assert copy_context().run(ask_twice) == 1
    assert services.catalogue.get("question", read) == 2


def test_what_a_request_has_not_asked_yet_is_of_the_catalogue_as_it_is(services):
    first, second = Reader(), Reader()

    def ask():
        services.catalogue.see_one_state()
        services.catalogue.get("caller", first)
        PeopleService(services, "local:test").create_principal("ada", "analyst")
        return services.catalogue.get("grant", second)

    assert copy_context().run(ask) == 1
    assert services.catalogue.get("grant", second) == 1
