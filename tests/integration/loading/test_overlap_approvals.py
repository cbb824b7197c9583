"""What two persons agree to of an overlap: this very content, and once."""

import json

import pytest

from budget.ledger import Ledger
from privacy.errors import LedgerUnavailableError
from server.use_cases.approvals.second_persons import ProposalOpenError
from server.use_cases.datasets.snapshots import SnapshotService
from server.use_cases.loading.comparisons import OverlapRefusedError
from server.use_cases.loading.loading import LoadChoices
from server.use_cases.oversight.statements import StatementService
from server.use_cases.services.errors import CommandRefusedError
from tests.integration.people.test_two_persons import (
    crowd,
    is_whole,
    load,
    refusals_told,
    school,
)
from tests.support.installations.two_persons import Two

pytestmark = pytest.mark.long

OVERRIDE = LoadChoices(override_overlap=True, reason="one shared patient")
HARMLESS, PEOPLE = ["a", "b"], [str(unit) for unit in range(1, 101)]
KNOWN = crowd("901", 20_000)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A population ``people`` of patients 1 to 100, and pupils with public codes."""
    two = Two.made(tmp_path_factory.mktemp("made"), cap="10")
    load(two, published(two, KNOWN, HARMLESS), approver="carol")
    return two


@pytest.fixture
def two(made, tmp_path):
    return made.copied(tmp_path / "copy")


def published(two, units, codes, header="code"):
    """Write a manifest of pupils whose public table has these codes."""
    manifest = school(two, units)
    write_codes(manifest, codes, header)
    table = {
        "name": "codes",
        "files": ["codes.csv"],
        "public": True,
        "source": "list",
        "columns": [{"name": "code", "type": "text"}],
    }
    manifest.write_text(manifest.read_text() + f"- {json.dumps(table)}\n")
    return manifest


def write_codes(manifest, codes, header="code"):
    lines = "\n".join([header, *codes])
    (manifest.parent / "codes.csv").write_text(f"{lines}\n")


def proposed(two, manifest, choices=OVERRIDE):
    """Try to load; return what waits."""
    with pytest.raises(ProposalOpenError) as waiting:
        load(two, manifest, choices)
    return waiting.value.proposal


def statement(two):
    """Return the population's statement, as its custodians read it."""
    with two.installation.services() as services:
        return StatementService(services).population("pupils")


def refused_once(two):
    """Have one load of pupils refused: from now on each comparison needs two."""
    with pytest.raises(CommandRefusedError, match="in population 'people' too"):
        load(two, published(two, crowd("5", 2_000), HARMLESS))


def test_an_override_is_of_the_very_rows_that_become_public(two):
    manifest = published(two, crowd("7", 40_000), HARMLESS)
    first = proposed(two, manifest)
    assert first["action"] == "overlap.override"
    assert not any("public table" in words for words in first["words"])
    two.decide("carol", first["proposal"])
    write_codes(manifest, PEOPLE)  # a careless export, after the approval
    assert proposed(two, manifest)["action"] == "overlap.compare"  # one was refused
    write_codes(manifest, HARMLESS)  # what was approved
    load(two, manifest, OVERRIDE)
    assert is_whole(two)
    told = statement(two)
    nobody = "populations whose units something public of school names"
    assert f"{nobody}: none" in told
    assert f"{nobody}: refused" not in told
    assert "sha256" not in told.split("overlap.compare", 1)[1].split("###")[0]


def test_an_override_says_what_becomes_public_and_whose_units_that_names(two):
    proposal = proposed(two, published(two, crowd("7", 40_000), PEOPLE))
    assert refusals_told(two, "people") == 1
    (words,) = (one for one in proposal["words"] if "public table codes" in one)
    assert words.startswith("public table codes of school: 2 rows, sha256 ")
    assert " -> 100 rows, sha256 " in words
    facts = {one["what"]: one["new"] for one in proposal["change"]["altered"]}
    public = "populations whose units something public of school names"
    assert facts[public] == {"populations": ["people"]}
    assert f"{public}: people" in proposal["words"]
    assert "populations that have units of school too: people" in proposal["words"]


def test_units_let_pass_unseen_let_no_public_table_pass(two):
    manifest = published(two, f"{KNOWN} 7", HARMLESS)
    harmless = proposed(two, manifest)
    two.decide("carol", harmless["proposal"])
    write_codes(manifest, PEOPLE)
    unseen = proposed(two, manifest)
    assert unseen["proposal"] != harmless["proposal"]
    assert "fewer than 50" in str(unseen["words"])
    assert "something public" not in str(unseen["words"])
    assert refusals_told(two, "people") == 0
    two.decide("carol", unseen["proposal"])
    named = proposed(two, manifest)
    assert "something public of school names" in str(named["words"])
    assert refusals_told(two, "people") == 1
    two.decide("carol", named["proposal"])
    load(two, manifest, OVERRIDE)
    assert two.entries("dataset.load")[-1]["facts"]["overlap"] == ["people"]
    assert [one["proposal"] for one in two.waiting()] == [harmless["proposal"]]


def test_a_comparison_that_is_refused_uses_its_approval_up_and_is_told_once_recorded(
    two, monkeypatch
):
    refused_once(two)
    manifest = published(two, crowd("6", 3_000), HARMLESS)
    comparison = proposed(two, manifest, LoadChoices())
    assert comparison["action"] == "overlap.compare"
    two.decide("carol", comparison["proposal"])
    with monkeypatch.context() as patched:
        patched.setattr(Ledger, "recorded", failing_to_record_a_refusal)
        with pytest.raises(LedgerUnavailableError) as told:
            load(two, manifest)
    assert not any("people" in str(error) for error in causes(told.value))
    assert len(two.entries("overlap.refused")) == 1
    with pytest.raises(CommandRefusedError, match="in population 'people' too"):
        load(two, manifest)
    entry = two.entries("overlap.refused")[-1]
    assert entry["facts"]["approval of overlap.compare"] == {
        "proposal": comparison["proposal"],
        "approved_by": "carol",
    }
    again = proposed(two, manifest, LoadChoices())
    assert again["proposal"] != comparison["proposal"]
    assert len(two.entries("overlap.refused")) == 2
    assert is_whole(two)


RECORDED = Ledger.recorded


def failing_to_record_a_refusal(ledger, action, *given):
    if action == "overlap.refused":
        message = "the disk is full"
        raise LedgerUnavailableError(message)
    return RECORDED(ledger, action, *given)


def causes(error):
    """Yield an error and all that a traceback would show before it."""
    while error is not None:
        assert not isinstance(error, OverlapRefusedError)
        yield error
        error = error.__cause__ or error.__context__


def test_an_approval_of_a_comparison_is_of_all_that_is_compared(two):
    refused_once(two)
    manifest = published(two, KNOWN, ["other,1", "codes,2"], "code,more")
    first = proposed(two, manifest, LoadChoices())
    two.decide("carol", first["proposal"])
    seen = {first["proposal"]}
    for codes in (["other,1", "codes,3"], [f"{unit},1" for unit in PEOPLE]):
        write_codes(manifest, codes, "code,more")
        other = proposed(two, manifest, LoadChoices())
        assert other["action"] == "overlap.compare"
        assert "something public of school names" not in str(other["words"])
        assert other["proposal"] not in seen
        seen.add(other["proposal"])
    assert len(two.entries("overlap.refused")) == 1


@pytest.mark.long
def test_an_activation_that_is_refused_uses_its_approval_up(two):
    patients = [str(unit) for unit in range(50_001, 50_101)]
    snapshot = load(two, published(two, KNOWN, patients))
    load(two, published(two, KNOWN, HARMLESS))
    rows = [f"{unit},F,30,north,2024-03-03,n" for unit in patients]
    others = two.installation.write_manifest(rows, dataset="o", population="others")
    load(two, others, approver="carol")

    def activate():
        with two.installation.services() as services:
            SnapshotService(services, "dora").activate(snapshot)

    for refused in (1, 2):
        with pytest.raises(CommandRefusedError, match="names people of"):
            activate()
        assert len(two.entries("overlap.refused")) == refused
        with pytest.raises(ProposalOpenError):
            activate()
        two.approve_all("carol")
