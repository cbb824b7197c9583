"""A second person reads what a change does to the promise, and what it leaves."""

import pytest

from privacy.losses import Loss
from server.use_cases.approvals.proposals import ProposalService
from server.use_cases.approvals.second_persons import ProposalOpenError
from server.use_cases.loading.loading import LoadChoices
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
