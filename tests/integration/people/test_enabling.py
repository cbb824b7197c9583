"""A disabled principal is enabled again, and nothing of its earlier time with it."""

import pytest
from sqlalchemy import select

from budget.reading.statements import read_entries
from privacy.errors import CuratorError
from privacy.losses import Loss
from server.bootstrap import make_jobs
from server.persistence import tables
from server.persistence.schema import RECORDED_TABLES
from server.use_cases.approvals.second_persons import ProposalOpenError
from server.use_cases.custody.people import PeopleService
from server.use_cases.custody.populations import PopulationService
from server.use_cases.identity.access import authenticate
from server.use_cases.jobs.jobs import Viewer
from server.use_cases.oversight.auditing import AuditService
from server.use_cases.services.errors import CommandRefusedError, UnauthenticatedError
from tests.support.installations.harness import (
    ImportingInstallation,
    ask,
    client,
    serve_in_thread,
)
from tests.support.installations.two_persons import Two

HOST = "local:test"
HIGHER = Loss.parse("12")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return Two.made(tmp_path_factory.mktemp("made"), cap="10")


@pytest.fixture
def two(made, tmp_path):
    return made.copied(tmp_path / "copy")


@pytest.fixture
def services(tmp_path):
    made = ImportingInstallation(tmp_path).create()
    with made.services() as services:
        yield services


def admitted(services, name, credential="Bearer a.b.c"):
    """Return whether a good token of a principal opens, or else a key."""
    claimed = name if credential == "Bearer a.b.c" else None
    with services.databases.reader.connect() as connection:
        try:
            return authenticate(connection, credential, claimed).name == name
        except UnauthenticatedError:
            return False


def revoked(service):
    listed = service.keys()
    return [key["revoked"] for key in listed]


def back(service, name):
    service.disable_principal(name)
    return service.enable_principal(name)


def test_an_enabled_principal_asks_with_a_new_key_and_with_no_old_one(tmp_path):
    installation = ImportingInstallation(tmp_path).create()
    installation.load()
    old = installation.analyst()
    with (
        installation.services() as services,
        serve_in_thread(installation) as url,
        client(url, old) as http,
    ):
        service = PeopleService(services, HOST)
        assert ask(http).status_code == 200
        service.disable_principal("ada")
        assert ask(http).status_code == 401
        assert service.enable_principal("ada") == {"name": "ada", "disabled": False}
        assert ask(http).status_code == 401
        with client(url, service.create_key("ada")["key"]) as again:
            assert ask(again).status_code == 200
        assert revoked(service) == [True, False]
        assert services.ledger.verify(RECORDED_TABLES).ok


def test_who_enabled_whom_is_one_entry(services):
    service = PeopleService(services, HOST)
    service.create_principal("ada", "analyst")
    key = service.create_key("ada")["id"]
    back(PeopleService(services, "root"), "ada")
    with services.databases.reader.connect() as connection:
        *_, entry = read_entries(connection, "admin", naming="principal.enable")
    assert (entry.body["action"], entry.body["actor"]) == ("principal.enable", "root")
    assert entry.body["changes"] == [
        {"table": "principal", "key": {"name": "ada"}, "update": {"disabled": False}},
        {"table": "key", "key": {"id": key}, "update": {"revoked": True}},
    ]


def test_nobody_is_enabled_who_is_unknown_or_not_disabled(services):
    service = PeopleService(services, HOST)
    service.create_principal("ada", "analyst")
    service.create_key("ada")
    before = services.ledger.position()
    with pytest.raises(CuratorError, match="no principal 'eve'"):
        service.enable_principal("eve")
    with pytest.raises(CommandRefusedError, match="ada is not disabled"):
        service.enable_principal("ada")
    assert services.ledger.position() == before
    assert revoked(service) == [False]


def test_a_disabled_principals_key_is_refused_with_what_to_type_first(services):
    service = PeopleService(services, HOST)
    service.create_principal("ada", "analyst")
    service.disable_principal("ada")
    with pytest.raises(CommandRefusedError, match="curator principal enable ada"):
        service.create_key("ada")


def test_a_token_opens_again_only_once_a_key_was_issued_since(services):
    service = PeopleService(services, HOST)
    for name in ("ada", "ada_b", "bob"):
        service.create_principal(name, "analyst")
    service.create_key("ada")
    assert admitted(services, "ada")
    back(service, "ada")
    assert not admitted(services, "ada")
    assert admitted(services, "bob")
    assert admitted(services, "ada_b")
    issued = service.create_key("ada")
    assert admitted(services, "ada")
    assert admitted(services, "ada", f"Bearer {issued['key']}")
    back(service, "ada")
    assert not admitted(services, "ada")
    assert not admitted(services, "ada", f"Bearer {issued['key']}")


def test_a_restore_before_or_after_an_enabling_shuts_tokens_out(tmp_path):
    made = ImportingInstallation(tmp_path).create()
    with made.services() as services:
        service = PeopleService(services, HOST)
        service.create_principal("ada", "analyst")
        back(service, "ada")
        service.create_key("ada")
    made.settings.anchor.unlink()
    with made.services() as services:
        AuditService(services, HOST).reconcile("the anchor was lost")
        service = PeopleService(services, HOST)
        assert not admitted(services, "ada")
        service.create_principal("grace", "analyst")
        assert admitted(services, "grace")
        back(service, "grace")
        assert not admitted(services, "grace")


def propose(two):
    """Try to raise the cap; return the id of what waits."""
    with pytest.raises(ProposalOpenError) as waiting:
        raise_cap(two)
    return waiting.value.proposal["proposal"]


def raise_cap(two):
    with two.installation.services() as services:
        return PopulationService(services, HOST).set_cap("people", HIGHER)


def _enable(service):
    back(service, "dora")


def _add_again(service):
    service.remove_custodian("people", "dora")
    service.add_custodian("people", "dora")


@pytest.mark.parametrize("comes_back", [_enable, _add_again])
def test_an_approval_does_not_come_back_with_who_gave_it(two, comes_back):
    two.decide("dora", propose(two))
    two.people(comes_back)
    another = propose(two)
    two.decide("dora", another)
    assert raise_cap(two)["epsilon_cap"] == "12"


def test_a_proposal_does_not_come_back_with_who_made_it(two):
    with (
        two.installation.services() as services,
        pytest.raises(ProposalOpenError) as waiting,
    ):
        PopulationService(services, "carol").set_cap("people", HIGHER)
    two.decide("dora", waiting.value.proposal["proposal"])
    two.people(lambda service: back(service, "carol"))
    with (
        two.installation.services() as services,
        pytest.raises(ProposalOpenError),
    ):
        PopulationService(services, "carol").set_cap("people", HIGHER)


def test_a_job_does_not_come_back_with_who_submitted_it(two):
    installation = ImportingInstallation(two.installation.folder)
    manifest = installation.write_manifest(cap="10")
    with installation.services() as services:
        jobs = make_jobs(services)
        told = {"manifest": manifest.name}
        mine = jobs.submit(Viewer("carol", None), "dataset.load", told)["id"]
        others = jobs.submit(Viewer("dora", None), "dataset.load", told)["id"]
        back(PeopleService(services, HOST), "carol")
        job = tables.job
        with services.databases.reader.connect() as connection:
            marked = connection.execute(
                select(job.c.id).where(job.c.cancel_requested.is_(True))
            ).scalars()
            assert set(marked) == {mine}
        assert others != mine
