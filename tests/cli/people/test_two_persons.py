"""Without --single-custodian, what needs two persons waits for the second one."""

import os
import subprocess
import sys

import pytest
import yaml

from tests.support.installations.remembered import remembered
from tests.support.installations.two_persons import Two, initialise_for_two

REASON = "needs two persons"


@pytest.fixture
def curator(bare):
    """Commands on an installation that was not told to have one custodian."""
    initialise_for_two(bare.installation)
    return bare


@pytest.fixture
def two(curator):
    """The same with an admin and two custodians, whom the host did not make."""
    return Two.make(curator.installation)


def test_init_without_the_option_records_that_two_are_needed(bare):
    assert bare.json("init")["single_custodian"] == "false"


def test_what_one_person_may_do_is_done(curator):
    curator.run("principal", "create", "ada", "--role", "analyst")
    curator.run("key", "create", "ada")
    assert curator.json("ledger", "verify")["ok"]


def test_creating_a_population_waits_and_says_how_it_goes_on(curator):
    manifest = curator.installation.write_manifest()
    said = curator.said("population", "create", manifest)
    (proposal,) = curator.json("proposal", "list")["items"]
    assert REASON in said
    assert f"/v1/admin/proposals/{proposal['proposal']}/approve" in said
    assert "--single-custodian" in said
    assert curator.json("population", "show")["items"] == []
    assert proposal["words"][0].startswith('population people: none -> {"epsilon_cap"')
    assert curator.json("ledger", "verify")["ok"]


def test_the_same_change_is_not_proposed_twice(curator):
    manifest = curator.installation.write_manifest()
    curator.said("population", "create", manifest)
    before = curator.kinds()
    curator.said("population", "create", manifest)
    assert curator.kinds() == before


def test_a_waiting_load_leaves_no_file_and_prints_its_proposal(curator):
    manifest = curator.installation.write_manifest()
    done = curator.run("dataset", "load", manifest, "--json", code=1)
    (proposal,) = curator.json("proposal", "list", "--waiting")["items"]
    assert proposal["proposal"] in done.stdout
    assert list((curator.installation.data / "snapshots").iterdir()) == []
    shown = curator.json("proposal", "show", proposal["proposal"])
    assert shown == proposal
    assert "no proposal 'pr_0'" in curator.said("proposal", "show", "pr_0")


def test_whoever_approves_of_a_first_load_sees_every_table_whole(curator):
    manifest = curator.installation.write_manifest()
    curator.run("dataset", "load", manifest, code=1)
    (proposal,) = curator.json("proposal", "list")["items"]
    population, table = proposal["change"]["altered"]
    assert population["what"] == "population people"
    assert table["what"] == "clinic.visits"
    assert table["new"]["max_rows_per_unit"] == 10
    domains = {one["name"]: one.get("domain") for one in table["new"]["columns"]}
    assert domains["sex"]["values"] == ["F", "M"]


def test_an_approved_first_load_is_of_the_very_tables_that_were_shown(curator, two):
    curator.run("dataset", "load", curator.installation.write_manifest(), code=1)
    two.approve_all("carol")
    wider = curator.installation.write_manifest(max_rows=20)
    assert REASON in curator.said("dataset", "load", wider)
    assert curator.json("population", "show")["items"] == []


def test_an_approved_first_load_is_of_its_hierarchies_and_display_rule(curator, two):
    manifest = curator.installation.write_manifest()
    content = yaml.safe_load(manifest.read_text())
    content |= {
        "hierarchies": [{"name": "areas", "file": "areas.csv"}],
        "display": {"hide_below": 5},
    }
    ward = next(c for c in content["tables"][0]["columns"] if c["name"] == "ward")
    ward["domain"] = {"hierarchy": "areas"}
    manifest.write_text(yaml.safe_dump(content))
    codes = manifest.parent / "areas.csv"
    codes.write_text("code,side\nnorth,left\n")
    said = curator.said("dataset", "load", manifest)
    assert REASON in said
    (proposal,) = curator.json("proposal", "list")["items"]
    told = {one["what"]: one["new"] for one in proposal["change"]["altered"]}
    assert told["clinic.hierarchy areas: codes"] == [["north", "left"]]
    assert told["clinic.display"] == {"hide_below": 5}
    two.approve_all("carol")
    codes.write_text("code,side\nnorth,right\n")  # after the approval
    assert REASON in curator.said("dataset", "load", manifest)
    assert curator.json("population", "show")["items"] == []


def test_a_dry_run_proposes_nothing(curator):
    before = curator.kinds()
    curator.run("dataset", "load", curator.installation.write_manifest(), "--dry-run")
    assert curator.kinds() == before


def test_an_approved_load_is_repeated_and_its_approver_becomes_a_custodian(
    curator, two
):
    manifest = curator.installation.write_manifest()
    curator.said("dataset", "load", manifest)
    two.approve_all("carol")
    curator.run("dataset", "load", manifest)
    shown = curator.json("population", "show", "people")
    assert shown["datasets"] == ["clinic"]
    assert shown["custodians"] == ["carol"]
    (proposal,) = curator.json("proposal", "list")["items"]
    assert proposal["state"] == "used"
    assert curator.json("proposal", "list", "--waiting")["items"] == []
    entry = two.entries("dataset.load")[-1]
    assert entry["facts"]["approval of dataset.load"] == {
        "proposal": proposal["proposal"],
        "approved_by": "carol",
    }
    assert curator.json("ledger", "verify")["ok"]


@pytest.fixture
def people(curator, two):
    """A population with two custodians, and a project of one analyst."""
    remembered(curator.installation, ("people",), lambda: begin(curator, two))
    return curator


def begin(curator, two):
    manifest = curator.installation.write_manifest(cap="10")
    curator.said("dataset", "load", manifest)
    two.approve_all("carol")
    curator.run("dataset", "load", manifest)
    curator.run("population", "custodian", "add", "people", "dora")
    curator.run("principal", "create", "ada", "--role", "analyst")
    options = ("--principal", "ada", "--allotment", "3", "--expires", "2099-01-01")
    curator.run("project", "create", "study", "--dataset", "clinic", *options)


RAISES = [
    ("population", "cap", "people", "11"),
    ("project", "change", "study", "--allotment", "3.5"),
    ("project", "change", "study", "--expires", "2099-01-02"),
    ("project", "change", "study", "--expires", "never"),
]
NO_RAISES = [
    ("population", "cap", "people", "9"),
    ("project", "change", "study", "--allotment", "2"),
    ("project", "change", "study", "--expires", "2098-12-31"),
    ("project", "change", "study", "--purpose", "sepsis", "--protocol", "EC 7"),
    ("project", "grant", "study", "--principal", "ada", "--allotment", "2"),
]


def test_raises_wait_for_somebody_else(people, two):
    for command in (*RAISES, ("population", "cap", "people", "12")):
        assert REASON in people.said(*command), command
        two.approve_all("dora")
        people.run(*command)
    assert people.json("ledger", "verify")["ok"]


@pytest.mark.long
def test_what_is_no_raise_is_done_at_once(people):
    for command in NO_RAISES:
        people.run(*command)
    shown = people.json("project", "show", "study")
    assert (shown["allotment"], shown["expires"]) == ("2", "2098-12-31")
    assert (shown["purpose"], shown["protocol"]) == ("sepsis", "EC 7")
    assert people.json("proposal", "list", "--waiting")["items"] == []


def test_commands_take_reasons(people, two):
    cap = ("population", "cap", "people", "11", "--reason", "a second cohort")
    people.said(*cap)
    (proposal,) = people.json("proposal", "list", "--waiting")["items"]
    assert proposal["change"]["reason"] == "a second cohort"
    two.approve_all("dora")
    assert REASON in people.said(*cap[:-2])  # without it, it is another change
    people.run(*cap)
    because = ("--reason", "less is needed")
    people.run("project", "change", "study", "--allotment", "2", *because)
    ada = ("--principal", "ada", "--allotment", "1")
    people.run("project", "grant", "study", *ada, *because)
    for action in ("project.change", "project.grant"):
        assert two.entries(action)[-1]["facts"] == {"reason": "less is needed"}
    for usage in (
        ("change", "study", *because),
        ("grant", "study", "--dataset", "clinic", *because),
    ):
        people.said("project", *usage, code=2)


@pytest.mark.long
def test_a_cap_of_nothing_is_asked_about_on_a_terminal_alone(people):
    stop = ("population", "cap", "people", "0")
    before = people.kinds()
    for answer in ("n\n", "\n"):
        said = on_terminal(people, stop, answer)
        assert "every question about people is refused" in said
        assert "nothing was changed" in said
    assert people.kinds() == before
    assert "[y/N]" not in on_terminal(people, (*stop, "--yes"), "")
    assert people.json("population", "show", "people")["epsilon_cap"] == "0"
    people.run("population", "cap", "people", "0")  # a script is taken at its word


def on_terminal(commands, arguments, answer):
    """Run a command whose input is a terminal; return what it says beside results."""
    ours, theirs = os.openpty()
    os.write(ours, answer.encode())
    try:
        done = subprocess.run(
            [sys.executable, "-m", "server.main", *arguments],
            stdin=theirs,
            capture_output=True,
            env=commands.installation.environment,
            check=False,
            timeout=120,
        )
    finally:
        os.close(ours)
        os.close(theirs)
    return " ".join(done.stderr.decode().split())


def test_a_principals_first_allotment_is_no_raise_and_a_higher_one_is(people, two):
    grant = ("project", "grant", "study", "--principal", "ada", "--allotment")
    people.run(*grant, "2")
    assert REASON in people.said(*grant, "2.5")
    two.approve_all("carol")
    people.run(*grant, "2.5")


def test_custodians_are_added_and_removed_and_grants_taken_back(people):
    people.run("population", "custodian", "remove", "people", "dora")
    assert people.json("population", "show", "people")["custodians"] == ["carol"]
    add = ("population", "custodian", "add")
    assert "roles never change" in people.said(*add, "people", "ada")
    assert "no population" in people.said(*add, "nowhere", "dora")
    remove = ("population", "custodian", "remove", "people", "dora")
    assert "no custodian" in people.said(*remove)
    people.run("project", "revoke", "study", "--principal", "ada")
    assert people.json("project", "show", "study")["principals"] == []
    assert "is not in" in people.said(
        "project", "revoke", "study", "--principal", "ada"
    )
    people.run("project", "revoke", "study", "--dataset", "clinic")
    listed = {p["name"]: p for p in people.json("principal", "list")["items"]}
    assert listed["carol"]["populations"] == ["people"]
    assert listed["carol"]["created_by"] == "root"
    assert people.json("ledger", "verify")["ok"]


def test_a_custodian_can_be_made_for_a_population(people):
    options = ("--role", "custodian", "--population", "people")
    people.run("principal", "create", "emil", *options)
    assert "emil" in people.json("population", "show", "people")["custodians"]
    options = ("--role", "analyst", "--population", "people")
    before = people.kinds()
    assert "roles never change" in people.said("principal", "create", "eve", *options)
    assert people.kinds() == before
    for usage in (("change", "study"), ("revoke", "study")):
        people.said("project", *usage, code=2)


@pytest.mark.long
def test_an_overlap_is_overridden_by_two_for_these_very_patients(people, two):
    manifest = people.installation.write_manifest(
        dataset="school", population="pupils", cap="1"
    )
    load = ("dataset", "load", manifest, "--override-overlap", "--reason", "agreed")
    for _ in range(2):  # the population, then the overlap
        assert REASON in people.said(*load)
        two.approve_all("carol")
    people.run(*load)
    used = {p["action"] for p in people.json("proposal", "list")["items"]}
    assert used == {"dataset.load", "overlap.override"}
    assert [p["state"] for p in two.waiting()] == []


def test_changed_declarations_wait_with_old_and_new_values(people, two):
    manifest = people.installation.write_manifest(cap="10", max_rows=20)
    load = ("dataset", "load", manifest, "--accept-changes", "--reason", "long stays")
    assert REASON in people.said(*load)
    (proposal,) = two.waiting()
    assert proposal["words"] == ["clinic.visits: max_rows_per_unit: 10 -> 20"]
    assert proposal["change"]["reason"] == "long stays"
    two.approve_all("dora")
    people.run(*load)


def test_a_table_becomes_public_by_two_persons_only(people, two):
    manifest = people.installation.write_manifest(cap="10")
    (manifest.parent / "wards.csv").write_text("ward,beds\nnorth,10\n")
    table = {
        "name": "wards",
        "files": ["wards.csv"],
        "public": True,
        "source": "list",
        "columns": [{"name": "ward", "type": "text"}],
    }
    content = yaml.safe_load(manifest.read_text())
    content["tables"].append(table)
    manifest.write_text(yaml.safe_dump(content))
    assert REASON in people.said("dataset", "load", manifest)
    (proposal,) = two.waiting()
    (altered,) = proposal["change"]["altered"]
    assert (altered["what"], altered["old"]) == ("clinic.wards: public", None)
    assert altered["new"]["files"] == ["wards.csv"]
    assert [column["name"] for column in altered["new"]["columns"]] == ["ward"]
    two.approve_all("carol")
    people.run("dataset", "load", manifest)
    people.run("dataset", "load", manifest)  # public tables stay so
