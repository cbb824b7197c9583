"""A second person reads what a change does to the promise, and what it leaves."""

import pytest

from privacy.losses import Loss
from server.use_cases.approvals.changes import Altered, Subject
from server.use_cases.approvals.meanings import meaning_of
from server.use_cases.approvals.proposals import ProposalService
from server.use_cases.approvals.second_persons import ProposalOpenError
from server.use_cases.loading.loading import LoadChoices
from tests.effort import gate_first
from tests.support.installations.two_persons import Two


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    return Two.made(tmp_path_factory.mktemp("made"), cap="2")


def shown(two, work):
    with pytest.raises(ProposalOpenError) as waiting:
        work()
    with two.installation.services() as services:
        return ProposalService(services).shown(waiting.value.proposal["proposal"])


def test_a_cap_is_told_in_odds_before_and_after(two):
    def raised():
        two.populations(lambda service: service.set_cap("people", Loss.parse("3")))

    told = shown(two, raised)
    assert told["differences"] == ["cap of people: 2 -> 3"]
    assert told["does"][0] == (
        "The odds about one patient change by a factor of at most 20.1 instead of "
        "7.39, by all answers together; 0 was spent."
    )
    assert "e^3 = 20.1" in told["does"][1]
    assert told["leaves"] == []


def test_a_load_of_more_rows_leaves_the_cap(two):
    def more():
        path = two.installation.write_manifest(cap="2", max_rows=12)
        choices = LoadChoices(accept_changes=True, reason="longer stays")
        two.loads(lambda service: service.load(path, choices, None))

    told = shown(two, more)
    assert told["differences"] == ["clinic.visits: max_rows_per_unit: 10 -> 12"]
    (does,) = told["does"]
    assert does == (
        "More rows of one patient count, at more noise for each count of rows; what is "
        "promised to a patient stays the same."
    )
    cap, answers = told["leaves"]
    assert cap == (
        "The cap of people stays 2, of which 0 was spent: the odds about one patient "
        "change by a factor of at most 7.39, by all answers together."
    )
    assert answers == "Answers and releases that were paid stay what they are."


WARDS = """
- name: wards
  files: ["wards.csv"]
  max_rows: 1000
  source: test protocol
  {how}
  columns:
  {key}- {{name: w, type: text, domain: {{values: [north, south]}}, source: list}}
"""
PRIVATE = WARDS.format(
    how="unit_column: patient_id\n  max_rows_per_unit: 3",
    key="- {name: patient_id, type: integer, nullable: false}\n  ",
)
PUBLIC = WARDS.format(how="public: true", key="")


def loading(two, declared, *, widest=120):
    """Load a manifest with a further table and another domain of ages."""
    rows = [f"{unit},{'north' if unit % 2 else 'south'}" for unit in range(1, 101)]
    rows = ["patient_id,w", *rows] if declared == PRIVATE else ["w", "north", "south"]
    path = two.installation.write_manifest(cap="2")
    text = path.read_text() + declared
    path.write_text(text.replace("max: 120", f"max: {widest}"))
    path.with_name("wards.csv").write_text("\n".join(rows) + "\n")
    choices = LoadChoices(accept_changes=True, reason="as agreed")
    return lambda: two.loads(lambda service: service.load(path, choices, None))


def told_and_loaded(two, work):
    told = shown(two, work)
    two.approve_all("carol")
    work()
    return told


@pytest.fixture
def own(tmp_path):
    return Two.made(tmp_path, cap="2")


def test_a_wider_domain_is_told_as_rows_are_loaded(own):
    told = shown(own, loading(own, PRIVATE, widest=130))
    (does,) = told["does"]
    assert "becomes its nearest end" in does
    assert "becomes 'other' where that is declared, else missing" in does


@pytest.mark.long
def test_what_becomes_public_and_private_again_is_told(own):
    loading(own, PRIVATE)()
    told = told_and_loaded(own, loading(own, PUBLIC))
    readable = [line for line in told["does"] if "readable" in line]
    assert any("readable by everybody with a key, without noise" in r for r in readable)
    assert not any("Fewer rows" in line for line in told["does"])
    told = told_and_loaded(own, loading(own, PRIVATE))
    (does,) = told["does"]
    assert does.startswith("Its rows are no longer readable as they are")


@pytest.mark.parametrize(
    ("place", "old", "new"),
    gate_first(
        2,
        [
            ("admin", None, {"name": "admin"}),
            ("visits.domain_code: nullable", False, True),
            ("visits.subdomain: max_length", 100, 200),
            ("visits: max_rows_per_unit", None, 3),
            ("visits: max_rows_per_unit", 3, None),
        ],
    ),
)
def test_a_name_is_no_property(own, place, old, new):
    subject = Subject("declaration", "clinic", place)
    altered = [Altered(f"clinic.{place}", old, new, subject)]
    with own.installation.services() as services:
        reader = services.databases.reader
        with reader.connect() as connection:
            told = meaning_of(connection, "dataset.load", "people", altered)
    assert told.does == []
