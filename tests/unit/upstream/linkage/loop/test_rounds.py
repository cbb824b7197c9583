"""The loop: until nothing changes."""

import json

import pytest

from upstream.linkage.loop.rounds import Extracted, Linked, Rounds, run_rounds


class Told:
    """A loop whose rounds are told beforehand."""

    def __init__(self, *rounds):
        self.rounds = iter(rounds)
        self.links = 0

    def extract(self):
        spans, values, self.linked = next(self.rounds)
        return Extracted(spans, values)

    def link(self):
        self.links += 1
        return Linked(*self.linked)


def test_it_ends_with_the_round_that_changes_nothing():
    told = Told((90, 40, (30, 20)), (12, 3, (33, 2)), (1, 0, (33, 0)), (0, 0, None))
    found = run_rounds(told, most=9)
    assert [each.new_documents for each in found.rounds] == [30, 3, 0, 0]
    assert [each.patients for each in found.rounds] == [20, 2, 0, 0]
    assert found.is_settled
    assert found.has_gained
    assert told.links == 3
    assert found.lines()[1] == (
        "Round 2: 12 new spans, 3 new values, 2 patients changed, 33 documents linked "
        "(+3)."
    )
    assert found.lines()[3:] == ["Round 4 gained nothing.", "Nothing changes any more."]


def test_a_loop_that_gains_nothing_says_so():
    found = run_rounds(Told((5, 5, (2, 2)), (0, 0, None)))
    assert not found.has_gained
    assert "Round 2 gained nothing." in found.lines()
    assert found.to_json()["gained"] is False


def test_it_ends_at_the_most_rounds_and_says_so():
    found = run_rounds(Told((1, 1, (1, 1)), (1, 1, (1, 1))), most=2)
    assert not found.is_settled
    assert found.lines()[-1].startswith("It ended at the most rounds")


def test_nothing_at_all_is_one_round():
    found = run_rounds(Told((0, 0, (0, 0))))
    assert len(found.rounds) == 1
    assert found.is_settled
    assert json.loads(json.dumps(found.to_json()))["rounds"][0]["number"] == 1


def test_whoever_is_told_of_progress_may_stop_it():
    seen = []

    def stop(done, most):
        seen.append((done, most))
        raise InterruptedError

    with pytest.raises(InterruptedError):
        run_rounds(Told((1, 1, (1, 1)), (1, 1, (1, 1))), 4, stop)
    assert seen == [(1, 4)]


def test_a_loop_without_rounds_is_refused():
    with pytest.raises(ValueError, match="one round at least, not 0"):
        run_rounds(Told(), 0)
    assert Rounds((), is_settled=True).has_gained is False
