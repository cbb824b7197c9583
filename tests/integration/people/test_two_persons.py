"""PRIVACY 5, two persons: each rule over a real ledger, each way around it shut."""

import sqlite3
import subprocess
import sys
from contextlib import closing
from functools import partial

import pytest
import yaml

from privacy.losses import Loss
from server.persistence.schema import RECORDED_TABLES
from server.use_cases.approvals.proposals import ProposalService
from server.use_cases.approvals.second_persons import ProposalOpenError
from server.use_cases.custody.administration import CustodyService
from server.use_cases.custody.people import PeopleService
from server.use_cases.custody.projects import NewProject, ProjectChange
from server.use_cases.datasets.snapshots import SnapshotService
from server.use_cases.identity.access import Caller
from server.use_cases.loading.loading import LoadChoices
from server.use_cases.oversight.auditing import AuditService
from server.use_cases.oversight.statements import StatementService
from server.use_cases.services.errors import CommandRefusedError, NotFoundError
from server.use_cases.services.paging import Page
from tests.support.installations.harness import (
    STRANGERS,
    Installation,
    client,
    serve_in_thread,
)
from tests.support.installations.two_persons import Two

pytestmark = pytest.mark.thorough

CAP, HIGHER = "10", Loss.parse("12")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A population of carol, dora and emil, whom an admin made; cap 10."""
    return Two.made(tmp_path_factory.mktemp("made"), cap=CAP)


@pytest.fixture
def two(made, tmp_path):
    """A copy of it: loading takes seconds."""
    return made.copied(tmp_path / "copy")


def raise_cap(two, actor="local:test", cap=HIGHER):
    return two.populations(lambda service: service.set_cap("people", cap), actor)


def proposed(two, actor="local:test", cap=HIGHER):
    """Try to raise the cap; return the id of what waits."""
    with pytest.raises(ProposalOpenError) as waiting:
        raise_cap(two, actor, cap)
    return waiting.value.proposal["proposal"]


def cap_of(two):
    return two.populations(lambda service: service.population("people"))["epsilon_cap"]


def state(two, proposal):
    with two.installation.services() as services:
        return ProposalService(services).shown(proposal)["state"]


def is_whole(two):
    with two.installation.services() as services:
        return services.ledger.verify(RECORDED_TABLES).ok


def edit(two, statement):
    """Change the catalogue behind the ledger's back, as time would."""
    path = two.installation.data / "curator.sqlite"
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(statement)


def test_a_raise_is_done_once_another_custodian_approved_it(two):
    proposal = proposed(two)
    assert cap_of(two) == CAP
    assert two.decide("dora", proposal)["state"] == "approved"
    assert cap_of(two) == CAP
    assert raise_cap(two)["epsilon_cap"] == "12"
    assert state(two, proposal) == "used"
    assert is_whole(two)


def test_proposing_approving_and_using_are_entries_that_name_each_other(two):
    proposal = proposed(two)
    two.decide("dora", proposal)
    raise_cap(two)
    assert two.entries("proposal.create")[-1]["actor"] == "local:test"
    approved = two.entries("proposal.approved")[-1]
    assert (approved["actor"], approved["facts"]["proposal"]) == ("dora", proposal)
    used = two.entries("population.cap")[-1]
    assert used["facts"]["approval of population.cap"] == {
        "proposal": proposal,
        "approved_by": "dora",
    }


def test_the_proposer_cannot_approve(two):
    proposal = proposed(two, "carol")
    with pytest.raises(CommandRefusedError, match="another one than the first"):
        two.decide("carol", proposal)
    two.decide("dora", proposal)
    with pytest.raises(ProposalOpenError):
        raise_cap(two, "emil")  # it is carol's to use
    assert raise_cap(two, "carol")["epsilon_cap"] == "12"


def test_whom_the_proposer_created_cannot_approve(two):
    two.people(lambda service: service.create_principal("puppet", "custodian"))
    two.people(lambda service: service.add_custodian("people", "puppet"), "root")
    two.people(lambda service: service.create_key("puppet"), "root")
    with pytest.raises(CommandRefusedError):
        two.decide("puppet", proposed(two))


def test_whoever_created_the_proposer_cannot_approve(two):
    two.people(lambda service: service.create_principal("puppet", "custodian"), "dora")
    two.people(lambda service: service.add_custodian("people", "puppet"), "root")
    with pytest.raises(CommandRefusedError):
        two.decide("dora", proposed(two, "puppet"))
    two.decide("emil", proposed(two, "puppet"))


@pytest.mark.parametrize("issuer", ["local:test", "local:other"])
def test_holding_a_live_key_of_the_proposers_spoils_an_approval(two, issuer):
    key = two.people(lambda service: service.create_key("dora"), issuer)["id"]
    proposal = proposed(two)
    with pytest.raises(CommandRefusedError):
        two.decide("dora", proposal)
    two.people(lambda service: service.revoke_key(key))
    assert two.decide("dora", proposal)["state"] == "approved"


def test_a_key_issued_after_the_approval_spoils_it_too(two):
    two.decide("dora", proposed(two))
    two.people(lambda service: service.create_key("dora"))
    again = proposed(two)
    two.decide("emil", again)
    assert raise_cap(two)["epsilon_cap"] == "12"


def test_whoever_issued_the_proposers_key_cannot_approve(two):
    two.people(lambda service: service.create_key("dora"), "emil")
    with pytest.raises(CommandRefusedError):
        two.decide("emil", proposed(two, "dora"))


def test_all_commands_on_the_host_are_one_person(two):
    proposal = proposed(two, "local:alice")
    assert proposed(two, "local:bob") == proposal
    two.decide("dora", proposal)
    assert raise_cap(two, "local:bob")["epsilon_cap"] == "12"


@pytest.mark.parametrize("name", ["local", "loca_"])
def test_no_name_makes_a_principal_the_host(two, name):
    two.people(lambda service: service.create_principal(name, "custodian"), "root")
    two.people(lambda service: service.add_custodian("people", name), "root")
    two.decide("dora", proposed(two))
    with pytest.raises(ProposalOpenError):
        raise_cap(two, name)


def test_custodians_of_another_population_see_nothing_and_approve_nothing(two):
    proposal = proposed(two)
    two.people(lambda service: service.remove_custodian("people", "emil"))
    for what in ("approve", "reject"):
        with pytest.raises(NotFoundError):
            two.decide("emil", proposal, what)
    assert state(two, proposal) == "open"


@pytest.mark.parametrize("approved", [False, True])
def test_a_proposal_lapses(two, approved):
    proposal = proposed(two)
    if approved:
        two.decide("dora", proposal)
    edit(two, f"UPDATE proposal SET lapses = created WHERE id = '{proposal}'")
    for what in ("approve", "reject"):
        with pytest.raises(CommandRefusedError, match="lapsed"):
            two.decide("emil", proposal, what)
    assert proposed(two) != proposal
    assert cap_of(two) == CAP


def test_an_approval_is_of_this_very_change(two):
    approved = proposed(two)
    two.decide("dora", approved)
    assert proposed(two, cap=Loss.parse("12.000000001")) != approved
    assert raise_cap(two, cap=Loss.parse("9"))["epsilon_cap"] == "9"
    from_9_to_12 = proposed(two)
    assert from_9_to_12 != approved  # which was from 10 to 12


def test_an_edited_change_does_not_fit_its_digest(two):
    proposal = proposed(two, cap=Loss.parse("11"))
    two.decide("dora", proposal)
    edit(two, "UPDATE proposal SET change = replace(change, '\"11\"', '\"12\"')")
    assert proposed(two) != proposal


def test_an_approval_serves_once(two):
    proposal = proposed(two)
    two.decide("dora", proposal)
    raise_cap(two)
    raise_cap(two, cap=Loss.parse(CAP))
    assert proposed(two) != proposal
    with pytest.raises(CommandRefusedError, match="used"):
        two.decide("dora", proposal)


def test_approving_twice_is_refused_and_rejecting_ends_an_approval(two):
    proposal = proposed(two)
    two.decide("dora", proposal)
    with pytest.raises(CommandRefusedError, match="approved"):
        two.decide("emil", proposal)
    assert two.decide("emil", proposal, "reject")["state"] == "rejected"
    assert proposed(two) != proposal
    assert cap_of(two) == CAP


@pytest.mark.parametrize("end", ["disable", "remove"])
def test_an_approver_who_is_no_custodian_any_more_has_approved_nothing(two, end):
    two.decide("dora", proposed(two))
    if end == "disable":
        two.people(lambda service: service.disable_principal("dora"))
    else:
        two.people(lambda service: service.remove_custodian("people", "dora"))
    two.decide("emil", proposed(two))
    assert raise_cap(two)["epsilon_cap"] == "12"


def test_only_custodians_count_whatever_the_population(two):
    with two.installation.services() as services:
        service = PeopleService(services, "local:test")
        service.create_principal("ada", "analyst")
        with pytest.raises(CommandRefusedError, match="roles never change"):
            service.add_custodian("people", "ada")
    two.people(lambda service: service.create_principal("self", "custodian"), "root")
    with pytest.raises(CommandRefusedError, match="nobody makes themselves"):
        two.people(lambda service: service.add_custodian("people", "self"), "self")


CRASHING = """
import os, sys
from budget.chain.recorded import RecordedTransaction
from privacy.losses import Loss
from server.bootstrap import make_services
from server.configuration.settings import read_settings
from server.use_cases.custody.populations import PopulationService

def die(*_):
    os._exit(9)

RecordedTransaction.set_limit = die
PopulationService(make_services(read_settings()), "local:test").set_cap(
    "people", Loss.parse("12")
)
"""


def test_a_crash_while_using_an_approval_uses_nothing_up(two):
    proposal = proposed(two)
    two.decide("dora", proposal)
    died = subprocess.run(
        [sys.executable, "-c", CRASHING],
        env=two.installation.environment,
        check=False,
        timeout=120,
    )
    assert died.returncode == 9
    assert (state(two, proposal), cap_of(two)) == ("approved", CAP)
    assert is_whole(two)
    assert raise_cap(two)["epsilon_cap"] == "12"
    assert state(two, proposal) == "used"
    assert is_whole(two)


def test_a_restore_revives_no_approval(two):
    proposal = proposed(two)
    two.decide("dora", proposal)
    database = two.installation.data / "curator.sqlite"
    with closing(sqlite3.connect(database)) as live:
        backup = live.serialize()
    raise_cap(two)
    for path in two.installation.data.glob("curator.sqlite*"):
        path.unlink()
    database.write_bytes(backup)
    with two.installation.services() as services:
        AuditService(services, "local:test").reconcile("disk failed")
    assert state(two, proposal) == "rejected"
    assert cap_of(two) == CAP
    proposed(two)


def test_over_http_the_change_is_202_until_another_custodian_approves(two):
    project = ("study", ("clinic",), ("ada",), Loss.parse("3"))
    two.people(lambda service: service.create_principal("ada", "analyst"))
    two.projects(lambda service: service.create_project(NewProject(*project)))
    with (
        serve_in_thread(two.installation) as url,
        client(url, two.keys["carol"]) as carol,
        client(url, two.keys["dora"]) as dora,
    ):
        for path, body in (
            ("/v1/admin/populations/people", {"epsilon_cap": "12"}),
            ("/v1/admin/projects/study", {"allotment": 4}),
            ("/v1/admin/projects/study", {"allotment": "2.5", "expires": "2099-01-01"}),
        ):
            first = carol.patch(path, json=body)
            if first.status_code == 200:
                continue  # no raise
            assert first.status_code == 202, first.text
            assert first.json()["state"] == "open"
            assert carol.patch(path, json=body).json() == first.json()
            decide = f"/v1/admin/proposals/{first.json()['proposal']}"
            refused = carol.post(f"{decide}/approve")
            assert refused.status_code == 422
            assert refused.json()["type"] == "invalid_request"
            assert dora.get(decide).json() == first.json()
            assert dora.post(f"{decide}/approve").json()["state"] == "approved"
            assert carol.patch(path, json=body).status_code == 200
            assert dora.get(decide).json()["state"] == "used"
        shown = carol.get("/v1/admin/projects/study").json()
        assert (shown["allotment"], shown["expires"]) == ("2.5", "2099-01-01")
        later = carol.patch("/v1/admin/projects/study", json={"expires": None})
        assert later.json()["words"] == ["expires of study: 2099-01-01 -> none"]
    assert is_whole(two)


PLAIN = LoadChoices()
ACCEPTED = LoadChoices(accept_changes=True, reason="the protocol changed")
CODE = {"name": "code", "type": "text"}
BORN = {"name": "born", "type": "date"}


def load(two, manifest, choices=PLAIN, *, approver=None):
    """Load as dora does; return the snapshot."""
    if approver is not None:
        with pytest.raises(ProposalOpenError):
            load(two, manifest, choices)
        two.approve_all(approver)
    return two.loads(lambda service: service.load(manifest, choices), "dora")[
        "snapshot"
    ]


def activate(two, snapshot, *, approver=None):
    if approver is not None:
        with pytest.raises(ProposalOpenError):
            activate(two, snapshot)
        two.approve_all(approver)
    with two.installation.services() as services:
        SnapshotService(services, "dora").activate(snapshot, reason="back")


def first_snapshot(two):
    return two.populations(lambda service: service.dataset("clinic"))["snapshot"]


def writer(two):
    return partial(two.installation.write_manifest, cap=CAP)


def renamed(manifest):
    """Give the manifest's table another name."""
    return edited(manifest, lambda content: content["tables"][0].update(name="other"))


def edited(manifest, change):
    content = yaml.safe_load(manifest.read_text())
    change(content)
    manifest.write_text(yaml.safe_dump(content))
    return manifest


def with_wards(manifest, *columns, rows="north"):
    """Add a public table with these columns to a manifest."""
    header = ",".join(column["name"] for column in columns)
    (manifest.parent / "wards.csv").write_text(f"{header}\n{rows}\n")
    table = {
        "name": "wards",
        "files": ["wards.csv"],
        "public": True,
        "source": "list",
        "columns": list(columns),
    }
    return edited(manifest, lambda content: content["tables"].append(table))


@pytest.mark.long
def test_what_two_persons_lowered_one_alone_cannot_raise_again(two):
    first, write = first_snapshot(two), writer(two)
    load(two, write(max_rows=50), ACCEPTED, approver="carol")
    activate(two, first, approver="carol")
    with pytest.raises(CommandRefusedError, match="max_rows_per_unit differs"):
        load(two, write(max_rows=50))
    with pytest.raises(ProposalOpenError):
        load(two, write(max_rows=50), ACCEPTED)


def test_dropping_a_table_and_bringing_it_back_frees_none_of_its_declarations(two):
    first, write = first_snapshot(two), writer(two)
    load(two, write(max_rows=5), ACCEPTED, approver="carol")
    load(two, renamed(write(max_rows=5)))
    with pytest.raises(ProposalOpenError):
        activate(two, first)
    for rows in (5, 10):  # each differs from one that was declared
        with pytest.raises(CommandRefusedError, match="max_rows_per_unit differs"):
            load(two, write(max_rows=rows))


def test_going_back_to_another_rule_of_kept_rows_needs_two(two):
    def keep(content):
        content["tables"][0]["keep"] = {"first_by": "day"}

    first, write = first_snapshot(two), writer(two)
    load(two, edited(write(), keep), ACCEPTED, approver="carol")
    with pytest.raises(ProposalOpenError) as waiting:
        activate(two, first)
    assert waiting.value.proposal["words"][1].startswith("visits: keep: ")


def test_an_approval_of_a_public_table_is_of_that_very_table(two):
    write = writer(two)
    with pytest.raises(ProposalOpenError):
        load(two, with_wards(write(), CODE))
    two.approve_all("carol")
    with pytest.raises(ProposalOpenError):
        load(two, with_wards(write(), CODE, BORN, rows="ann,1950-02-03"))
    load(two, with_wards(write(), CODE))


@pytest.mark.long
def test_a_public_table_that_was_dropped_comes_back_by_two_persons_only(two):
    write = writer(two)
    public = load(two, with_wards(write(), CODE), approver="carol")
    load(two, with_wards(write(), CODE, rows="south"))  # the same declaration
    load(two, write())
    with pytest.raises(ProposalOpenError):
        load(two, with_wards(write(), CODE, BORN, rows="ann,1950-02-03"))
    with pytest.raises(ProposalOpenError):
        activate(two, public)


def school(two, units="901"):
    rows = [f"{unit},F,30,north,2024-03-03,n" for unit in units.split()] + STRANGERS
    return two.installation.write_manifest(rows, dataset="school", population="pupils")


def listed(two, name):
    with two.installation.services() as services:
        custody = CustodyService(services, Caller(name, "custodian"))
        return [item["proposal"] for item in custody.proposals(Page(50, None))["items"]]


def seen(two, name, proposal):
    with two.installation.services() as services:
        try:
            return ProposalService(services).seen_by(
                Caller(name, "custodian"), proposal
            )
        except NotFoundError:
            return None


@pytest.mark.long
def test_a_creation_is_everybodys_while_it_waits_and_its_own_afterwards(two):
    manifest = school(two)
    with pytest.raises(ProposalOpenError) as waiting:
        load(two, manifest)
    proposal = waiting.value.proposal["proposal"]
    assert proposal in listed(two, "emil")
    two.approve_all("carol")
    load(two, manifest)
    for name, is_seen in (("dora", True), ("carol", True), ("emil", False)):
        assert (proposal in listed(two, name)) is is_seen
        assert (seen(two, name, proposal) is not None) is is_seen
    two.people(lambda service: service.add_custodian("pupils", "emil"), "root")
    assert proposal in listed(two, "emil")
    assert seen(two, "emil", proposal) is not None


@pytest.mark.long
def test_an_overlap_names_no_population_that_is_not_the_actors(two):
    two.people(lambda service: service.remove_custodian("people", "dora"), "root")
    two.people(lambda service: service.remove_custodian("people", "emil"), "root")
    manifest = school(two, "5 901")
    with pytest.raises(ProposalOpenError):
        load(two, manifest)
    two.approve_all("emil")
    with pytest.raises(CommandRefusedError) as refused:
        load(two, manifest)
    assert "people" not in str(refused.value).replace("same people", "")
    assert "another population" in str(refused.value)
    override = LoadChoices(override_overlap=True, reason="agreed")
    with pytest.raises(ProposalOpenError):
        load(two, manifest, override)
    two.approve_all("emil")  # its reason makes the creation another change
    for action in ("overlap.compare", "overlap.override"):  # it was refused before
        two.approve_all("emil")
        with pytest.raises(ProposalOpenError) as waiting:
            load(two, manifest, override)
        told = waiting.value.proposal
        assert told["action"] == action
        patients, *found, shown = told["change"]["altered"]
        assert patients["new"] == {"populations": ["another population"]}
        assert shown["what"] == "names, lists and hierarchies of school"
    assert [one["new"]["populations"] for one in found] == [["another population"], []]
    assert seen(two, "emil", told["proposal"]) == told
    assert_bound_and_named(two, told)
    two.decide("emil", told["proposal"])
    load(two, manifest, override)


def assert_bound_and_named(two, told):
    """Look at an overlap as carol, of the other population, and as the host."""
    for_carol = seen(two, "carol", told["proposal"])
    assert for_carol["change"]["altered"][0]["new"] == {"populations": ["people"]}
    with two.installation.services() as services:
        whole = ProposalService(services).shown(told["proposal"])
    bound = {"populations", "keyed_units", "shown", "not_stored", "keyed"}
    assert set(whole["change"]["altered"][0]["new"]) == bound
    assert whole["digest"] == told["digest"]


def refusals_told(two, population):
    with two.installation.services() as services:
        return (
            StatementService(services).population(population).count("overlap.refused")
        )


def crowd(unit, first):
    """Return a unit among sixty that no population had before."""
    return " ".join([unit, *map(str, range(first, first + 60))])


def test_one_person_alone_hears_of_one_overlap_and_both_sides_read_of_it(two):
    load(two, school(two), approver="carol")
    assert refusals_told(two, "people") == 0
    with pytest.raises(CommandRefusedError, match="next comparison needs two"):
        load(two, school(two, crowd("5", 2_000)))
    for units in (
        crowd("6", 3_000),
        crowd("7777", 4_000),
    ):  # one of them is in the other population
        with pytest.raises(ProposalOpenError) as waiting:
            load(two, school(two, units))
        assert waiting.value.proposal["action"] == "overlap.compare"
    assert refusals_told(two, "people") == refusals_told(two, "pupils") == 1
    two.approve_all("carol")
    load(two, school(two, crowd("7777", 4_000)))
    with pytest.raises(CommandRefusedError, match="in population 'people' too"):
        load(two, school(two, crowd("6", 3_000)))
    assert refusals_told(two, "people") == refusals_told(two, "pupils") == 2
    load(two, school(two, crowd("7777", 4_000)))  # nobody new: nothing is compared


@pytest.fixture
def told(two):
    """A member's raised allotment, a member gone, a removed snapshot."""
    first = first_snapshot(two)
    two.people(lambda service: service.create_principal("ada", "analyst"), "root")
    new = NewProject("study", ("clinic",), ("ada",), Loss.parse("9"))
    two.projects(lambda service: service.create_project(new))

    def grant(epsilon):
        loss = Loss.parse(epsilon)
        two.projects(
            lambda service: service.grant_principal("study", "ada", loss), "dora"
        )

    grant("1")
    with pytest.raises(ProposalOpenError):
        grant("7.7")
    two.approve_all("carol")
    grant("7.7")
    two.projects(lambda service: service.revoke_principal("study", "ada"))
    load(two, writer(two)())
    with two.installation.services() as services:
        SnapshotService(services, "dora").remove(first)
        yield StatementService(services)


def test_the_statement_lists_raises_of_members_removals_and_the_creation(told):
    said = told.population("people")
    changes, approved = said.split("## Changes")[1].split("## What was put")
    assert "allotment of ada in study: none -> 1 |" in changes
    assert "allotment of ada in study: 1 -> 7.7 |" in changes
    assert "| snapshot.remove |" in changes
    assert "| project.revoke |" in changes
    creation, raised = approved.split("### ")[1:]
    assert creation.startswith("dataset.load, pr_")
    assert "\npopulation people: none -> {" in creation.replace("- pop", "pop")
    assert "```text\nclinic.visits: none -> {" in creation  # whole, and long
    assert "proposal.create" not in changes
    assert "| proposed by | local:test, " in creation
    assert "| approved by | carol, " in creation
    assert "- allotment of ada in study: 1 -> 7.7\n" in raised
    assert "| reason | not given |" in raised
    assert "| state | used |" in raised


def test_the_report_tells_who_set_which_allotment_and_who_came_and_went(told):
    report = told.project("study")
    tables = report.split("## Allotments")[1].split("## Questions")[0]
    assert "| local:test | allotment of study: none -> 9 |" in tables
    assert "| dora | allotment of ada in study: 1 -> 7.7 |" in tables
    assert "| local:test | dataset clinic came in |" in tables
    assert "| local:test | principal ada came in |" in tables
    assert "| local:test | principal ada was taken out |" in tables
    assert tables.endswith("\n\nNone.\n\n")  # no releases


def test_a_single_custodian_installation_says_so_in_each_such_entry(tmp_path):
    installation = Installation(tmp_path).create()
    installation.load(cap=CAP)
    key = installation.analyst(allotment="3")
    assert key
    two = Two.make(installation, ())
    raise_cap(two)
    two.projects(
        lambda service: service.change_project(
            "study", ProjectChange(allotment=Loss.parse("4"))
        )
    )
    for action in ("dataset.load", "population.cap", "project.change"):
        facts = two.entries(action)[-1]["facts"]
        assert facts["second_person"] == "none: a single-custodian installation"
    assert two.waiting() == []
