"""What was proposed of another state than today's is stale: nobody approves of it."""

import json
from datetime import date

import pytest
import yaml
from sqlalchemy import insert

from privacy.losses import Loss
from server.persistence import tables
from server.use_cases.approvals.changes import Altered, Change, Subject
from server.use_cases.approvals.proposals import ProposalService
from server.use_cases.approvals.second_persons import ProposalOpenError
from server.use_cases.approvals.stale_changes import Proposed, stale_words
from server.use_cases.custody.administration import CustodyService
from server.use_cases.custody.projects import NewProject, ProjectChange, ProjectService
from server.use_cases.datasets.snapshots import SnapshotService
from server.use_cases.identity.access import Caller
from server.use_cases.loading.loading import LoadChoices
from server.use_cases.oversight.statements import StatementService
from server.use_cases.services.errors import CommandRefusedError
from server.use_cases.services.paging import Page
from tests.effort import gate_first
from tests.support.installations.two_persons import Two

pytestmark = pytest.mark.thorough

ACCEPTED = LoadChoices(accept_changes=True, reason="the protocol changed")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A population of carol, dora and emil with a project; cap 10."""
    two = Two.made(tmp_path_factory.mktemp("made"), cap="10")
    two.people(lambda service: service.create_principal("ada", "analyst"))
    study = NewProject("study", ("clinic",), ("ada",), Loss.parse("3"))
    project(two, lambda service: service.create_project(study))
    return two


@pytest.fixture(params=gate_first(1, ["typed", "in words alone"]))
def two(made, tmp_path, request, monkeypatch):
    """A copy; its proposals are stored as today, or as earlier versions did."""
    if request.param == "in words alone":
        monkeypatch.setattr(Change, "stored", Change.text)
    return made.copied(tmp_path / "copy")


def project(two, work):
    with two.installation.services() as services:
        return work(ProjectService(services, "local:test"))


def written(two):
    with two.installation.services() as services:
        return StatementService(services).population("people")


def set_cap(two, cap):
    return two.populations(lambda service: service.set_cap("people", Loss.parse(cap)))


def load(two, manifest, choices=ACCEPTED):
    return two.loads(lambda service: service.load(manifest, choices))


def activate(two, snapshot):
    with two.installation.services() as services:
        return SnapshotService(services, "local:test").activate(snapshot, reason="back")


def proposed(work, *given):
    """Try a change; return the id of what waits."""
    with pytest.raises(ProposalOpenError) as waiting:
        work(*given)
    return waiting.value.proposal["proposal"]


def shown(two, proposal):
    with two.installation.services() as services:
        return ProposalService(services).shown(proposal)


def approved(two, work, *given):
    """Make a change that two persons agree on."""
    two.decide("dora", proposed(work, *given))
    return work(*given)


def with_wards(two, lookup):
    """Return a manifest of people and a table of wards: public, private, or none."""
    path = two.installation.write_manifest(cap="10")
    told = yaml.safe_load(path.read_text())
    if lookup is not None:
        columns = {"ward": "text", "floor": "integer"}
        kind = {"public": True, "key": ["ward"]}
        lines = ["ward,floor", "north,1", "south,2"]
        if lookup == "private":
            columns = {"patient_id": "integer", **columns}
            kind = {"unit_column": "patient_id", "max_rows_per_unit": 3}
            lines = ["patient_id,ward,floor", "1,north,1", "2,south,2"]
        rows = path.with_name(f"{path.stem}-wards.csv")
        rows.write_text("\n".join(lines))
        wards = [
            {"name": name, "type": columns[name], "nullable": False} for name in columns
        ]
        table = {"name": "wards", "files": [rows.name], "source": "plan of the house"}
        told["tables"].append({**table, **kind, "columns": wards})
    path.write_text(yaml.safe_dump(told, sort_keys=False))
    return path


def is_stale(two, proposal, now):
    """Whether a proposal says what is there now, and dora cannot approve of it."""
    before = two.entries("proposal.approved")
    with pytest.raises(CommandRefusedError) as refused:
        two.decide("dora", proposal)
    told = shown(two, proposal)
    return (
        told["state"] == "stale"
        and told["stale"] == [now]
        and now in str(refused.value)
        and "proposed again" in str(refused.value)
        and two.entries("proposal.approved") == before
    )


def test_a_raise_from_another_cap_than_todays_cannot_be_approved(two):
    set_cap(two, "0")
    proposal = proposed(set_cap, two, "5")
    approved(two, set_cap, two, "6")
    assert is_stale(two, proposal, "cap of people is 6 now, not 0")
    again = proposed(set_cap, two, "7")
    assert two.decide("dora", again)["stale"] == []


def test_what_was_approved_and_is_stale_serves_nobody_and_is_rejected_for_good(two):
    set_cap(two, "0")
    proposal = proposed(set_cap, two, "5")
    two.decide("dora", proposal)
    approved(two, set_cap, two, "4")
    assert shown(two, proposal)["state"] == "stale"
    assert proposed(set_cap, two, "5") != proposal
    assert two.decide("emil", proposal, "reject")["state"] == "rejected"
    set_cap(two, "0")
    proposed(set_cap, two, "5")


def test_stale_ones_are_listed_as_such_and_wait_for_nobody(two):
    proposal = proposed(set_cap, two, "12")
    set_cap(two, "9")
    assert two.waiting() == []
    with two.installation.services() as services:
        custody = CustodyService(services, Caller("emil", "custodian"))
        first = custody.proposals(Page(50, None))["items"][0]
    assert (first["proposal"], first["state"]) == (proposal, "stale")
    approved(two, set_cap, two, "10")
    assert is_stale(
        two, proposal, "cap of people was set since, and is again what it was"
    )
    again = proposed(set_cap, two, "12")
    assert two.decide("dora", again)["state"] == "approved"


def test_a_cap_of_0_stops_what_was_agreed_from_0_before(two):
    set_cap(two, "0")
    two.decide("dora", proposed(set_cap, two, "5"))
    approved(two, set_cap, two, "4")
    two.populations(lambda service: service.set_cap("people", Loss(0), "stop"), "dora")
    waits = proposed(set_cap, two, "5")
    two.decide("dora", waits)
    assert set_cap(two, "5")["epsilon_cap"] == "5"


def test_a_projects_end_stops_what_was_agreed_before(two):
    def until(day):
        wanted = ProjectChange(expires=day)
        return project(two, lambda service: service.change_project("study", wanted))

    until(date(2029, 1, 1))
    before = proposed(until, date(2030, 1, 1))
    two.decide("dora", before)
    approved(two, until, date(2031, 1, 1))
    until(date(2029, 1, 1))
    assert proposed(until, date(2030, 1, 1)) != before


@pytest.mark.parametrize("lookup", gate_first(1, ["public", "private"]))
def test_a_dropped_or_public_table_can_be_proposed_and_approved_again(two, lookup):
    approved(two, load, two, with_wards(two, "public"))
    if lookup == "public":
        load(two, with_wards(two, None))
    again = with_wards(two, lookup)
    waits = proposed(load, two, again)
    assert shown(two, waits)["stale"] == []
    two.decide("dora", waits)
    assert load(two, again)["snapshot"]


CHANGES = [
    (
        ProjectChange(allotment=Loss.parse("4")),
        ProjectChange(allotment=Loss.parse("1")),
        "allotment of study is 1 now, not 3",
    ),
    (
        ProjectChange(allotment=Loss.parse("4"), purpose="sepsis"),
        ProjectChange(purpose="stroke"),
        "purpose of study is stroke now, not none",
    ),
]


@pytest.mark.parametrize(("wanted", "meanwhile", "now"), CHANGES)
def test_a_change_of_a_project_is_stale_once_what_it_alters_moved(
    two, wanted, meanwhile, now
):
    def change(wanted):
        return project(two, lambda service: service.change_project("study", wanted))

    proposal = proposed(change, wanted)
    change(meanwhile)
    assert is_stale(two, proposal, now)


def test_a_members_allotment_is_looked_at_too(two):
    def grant(allotment):
        loss = Loss.parse(allotment)
        return project(two, lambda o: o.grant_principal("study", "ada", loss))

    grant("2")
    proposal = proposed(grant, "3")
    grant("1")
    assert is_stale(two, proposal, "allotment of ada in study is 1 now, not 2")


def test_a_load_is_stale_once_the_declaration_that_it_changes_moved(two):
    write = two.installation.write_manifest
    wider = write(max_rows=50, cap="10")
    proposal = proposed(load, two, wider)
    place = "clinic.visits: max_rows_per_unit"
    assert shown(two, proposal)["words"] == [f"{place}: 10 -> 50"]
    assert shown(two, proposal)["state"] == "open"
    approved(two, load, two, write(max_rows=20, cap="10"))
    assert is_stale(two, proposal, f"{place} is 20 now, not 10")


def test_going_back_to_a_snapshot_is_stale_once_another_is_active(two):
    first = two.populations(lambda service: service.dataset("clinic"))["snapshot"]
    write = two.installation.write_manifest
    second = approved(two, load, two, write(max_rows=20, cap="10"))["snapshot"]
    proposal = proposed(activate, two, first)
    third = load(two, write(max_rows=20, cap="10"))["snapshot"]
    assert is_stale(two, proposal, f"active snapshot is {third} now, not {second}")


def test_a_creation_is_stale_once_the_population_is_there_and_seen_by_few(two):
    rows = [f"{unit},F,30,north,2024-03-03,n" for unit in range(901, 951)]
    names = {"dataset": "school", "population": "pupils"}
    manifest = two.installation.write_manifest(rows, **names)
    slower = proposed(
        two.loads, lambda loads: loads.create_population(manifest), "emil"
    )
    approved(two, load, two, manifest)
    assert shown(two, slower)["stale"] == [
        "population pupils is there already now, not none"
    ]
    with two.installation.services() as services:
        for name, is_seen in (("emil", True), ("carol", False)):
            custody = CustodyService(services, Caller(name, "custodian"))
            items = custody.proposals(Page(50, None))["items"]
            assert (slower in [item["proposal"] for item in items]) is is_seen


def test_a_public_release_is_stale_once_its_name_is_taken_or_the_data_moved(two):
    snapshot = two.populations(lambda service: service.dataset("clinic"))["snapshot"]
    altered = (
        Altered("its spec", None, {"name": "wards"}, Subject("release", "wards")),
        Altered("its data", None, snapshot, Subject("release_snapshot", "wards")),
    )
    wanted = Proposed("pr_none", "release.publish", "people", altered)
    row = {
        "id": "rel_1",
        "name": "wards",
        "population": "people",
        "dataset": "clinic",
        "snapshot": snapshot,
        "job": "job_1",
        "spec": json.dumps({}),
        "public": True,
        "readers": "[]",
        "state": "begun",
        "created": "2026-05-04T09:30:00+00:00",
        "created_by": "carol",
    }
    with (
        two.installation.services() as services,
        services.databases.writer.connect() as connection,
    ):
        assert stale_words(connection, wanted) == []
        connection.execute(insert(tables.publication).values(row))
        taken = ["its spec is there already now, not none"]
        assert stale_words(connection, wanted) == taken
        connection.rollback()
    newer = load(two, two.installation.write_manifest(cap="10"))["snapshot"]
    with (
        two.installation.services() as services,
        services.databases.reader.connect() as connection,
    ):
        moved = f"its data is {newer} now, not {snapshot}"
        assert stale_words(connection, wanted) == [moved]


def test_a_reason_is_in_the_entry_the_proposal_and_the_statement(two):
    def change(reason):
        wanted = ProjectChange(allotment=Loss.parse("4"), reason=reason)
        return project(two, lambda service: service.change_project("study", wanted))

    proposal = proposed(change, "a second | aim")
    assert shown(two, proposal)["change"]["reason"] == "a second | aim"
    two.decide("dora", proposal)
    again = proposed(change, "another aim")  # the approval is of its reason too
    change("a second | aim")
    assert two.entries("project.change")[-1]["facts"]["reason"] == "a second | aim"
    why = two.decide("emil", again, "reject", "not in the protocol")
    assert why["decision_reason"] == "not in the protocol"
    assert shown(two, again)["decision_reason"] == "not in the protocol"
    assert shown(two, proposal)["decision_reason"] is None
    said = written(two)
    assert r"| project.change | a second \| aim | allotment of study: 3 -> 4 |" in said
    assert r"| reason | a second \| aim |" in said
    assert "| rejected because | not in the protocol |" in said


def test_no_reason_leaves_no_fact_and_a_caps_reason_is_on_record(two):
    set_cap(two, "9")
    assert two.entries("population.cap")[-1]["facts"] == {}
    cap = Loss.parse("8")
    two.populations(lambda service: service.set_cap("people", cap, "fewer questions"))
    assert two.entries("population.cap")[-1]["facts"] == {"reason": "fewer questions"}
    assert "| population.cap | fewer questions | cap of people: 9 -> 8 |" in written(
        two
    )


def test_a_rejections_reason_is_its_own_whatever_others_name(two):
    first, second, third = (proposed(set_cap, two, cap) for cap in ("12", "13", "14"))
    two.decide("emil", first, "reject", f"{second} and {third}: consent was withdrawn")
    assert two.decide("dora", second, "reject", "too much")["decision_reason"] == (
        "too much"
    )
    assert two.decide("dora", third, "reject")["decision_reason"] is None
    assert written(two).count("too much") == 1
