"""What nobody learns of other populations from a load, a proposal or an activation."""

import json

import pytest

from server.use_cases.approvals.changes import Change
from server.use_cases.approvals.second_persons import ProposalOpenError
from server.use_cases.approvals.stored_changes import read_altered
from server.use_cases.datasets import snapshots as activating
from server.use_cases.datasets.snapshots import SnapshotService
from server.use_cases.loading.activations import Held
from server.use_cases.loading.loading import LoadChoices
from server.use_cases.loading.service import LoadService
from server.use_cases.loading.shown_content import Shown
from server.use_cases.loading.versions import Versions
from server.use_cases.services.errors import BusyError, CommandRefusedError
from tests.integration.loading.test_overlap_approvals import (
    HARMLESS,
    KNOWN,
    published,
)
from tests.integration.people.test_two_persons import load as load_two
from tests.support.installations.harness import DEFAULT_ROWS, STRANGERS, Installation
from tests.support.installations.two_persons import Two

pytestmark = pytest.mark.long

AGREED = LoadChoices(override_overlap=True, reason="agreed")
GUESSED = [f"P{number:04}" for number in range(1, 100)]
MEMBERS = [f"P-{number:04}" for number in range(3, 200, 3)]


def rows(ids):
    return [f"{unit},F,30,north,2024-03-03,n" for unit in ids]


def load(installation, ids, population, choices=LoadChoices()):  # noqa: B008 - frozen
    manifest = installation.write_manifest(
        rows(ids), dataset=f"of_{population}", population=population
    )
    text = manifest.read_text().replace("unit_type: integer", "unit_type: text")
    manifest.write_text(
        text.replace("patient_id, type: integer", "patient_id, type: text")
    )
    with installation.services() as services:
        LoadService(services, "local:test").load(manifest, choices, None)


def test_a_known_person_in_another_spelling_is_compared_with_nobody(tmp_path):
    installation = Installation(tmp_path).create()
    load(installation, GUESSED, "registry")
    with pytest.raises(CommandRefusedError, match="in population 'registry' too"):
        load(installation, MEMBERS, "hospital")
    load(installation, MEMBERS, "hospital", AGREED)
    with pytest.raises(CommandRefusedError, match="fewer than 50"):
        load(installation, [*GUESSED, "P-0500"], "registry")
    for other in ("P-0004", "P-0006"):  # the second is in the hospital, so written
        load(installation, [*GUESSED, other], "registry")


def test_the_digest_of_a_proposal_tells_of_no_population(tmp_path):
    two = Two.made(tmp_path, cap="10")
    load_two(two, published(two, KNOWN, HARMLESS), approver="carol")
    patients = [str(unit) for unit in range(50_001, 50_101)]
    snapshot = load_two(two, published(two, KNOWN, patients))
    load_two(two, published(two, KNOWN, HARMLESS))
    others = two.installation.write_manifest(
        rows(patients), dataset="o", population="others"
    )
    load_two(two, others, approver="emil")
    with (
        pytest.raises(ProposalOpenError) as waiting,
        two.installation.services() as services,
    ):
        SnapshotService(services, "carol").activate(
            snapshot, override_overlap=True, reason="why not"
        )
    told = waiting.value.proposal
    assert "others" not in json.dumps(told)
    with two.installation.services() as services:
        stored = services.databases.reader.connect
        with stored() as connection:
            (text,) = connection.exec_driver_sql(
                "SELECT change FROM proposal WHERE id = ?", (told["proposal"],)
            ).one()
    change = json.loads(text)

    def digest():
        altered = tuple(read_altered(json.dumps(change)))
        words = change["action"], change["population"], altered, change["reason"]
        return Change(*words).digest()

    assert digest() == told["digest"]
    kept = next(one["new"] for one in change["altered"] if "keyed" in str(one["new"]))
    del kept["keyed"]  # all else can be guessed
    assert digest() != told["digest"]


class _Row:
    population, name = "people", "clinic"


def test_approvals_of_overlaps_bind_to_something_secret():
    versions, shown = Versions("d", "s_0", {"others": "d"}, {}), Shown("d", {})
    compared = [
        Held(versions, shown, None, key).compared("s_1", _Row(), "agreed")
        for key in (b"one", b"another")
    ]
    for change in ("override", "comparison", "unseen"):
        digests = {getattr(one, change)(["others"]).digest() for one in compared}
        assert len(digests) == 2, change


def test_another_population_is_activated_while_one_is_compared(tmp_path, monkeypatch):
    installation = Installation(tmp_path).create()
    made = {}
    for lines, population in ((DEFAULT_ROWS, "people"), (STRANGERS, "pupils")):
        manifest = installation.write_manifest(
            lines, dataset=f"of_{population}", population=population
        )
        with installation.services() as services:
            service = LoadService(services, "local:test")
            made[population] = service.load(manifest, LoadChoices(), None)["snapshot"]
    held_against_units, tried = activating.held_against_units, []

    with installation.services() as services:
        service = SnapshotService(services, "local:test")

        def meanwhile(services, row):
            tried.append(row.id)
            if row.id == made["people"]:
                with pytest.raises(BusyError, match="of population people"):
                    service.activate(made["people"])
                assert service.activate(made["pupils"])["state"] == "active"
            return held_against_units(services, row)

        monkeypatch.setattr(activating, "held_against_units", meanwhile)
        for _ in range(2):  # names are let go of
            service.activate(made["people"])
    assert tried == [made["people"], made["pupils"]] * 2
