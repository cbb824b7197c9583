"""What looking for a study's tables may take, and what is counted of it."""

from types import SimpleNamespace

from privacy.contributions import NO_BOUNDS
from query_lang.binding.bind import bind_query
from query_lang.deriving.grids import grids_of
from query_lang.reading.parse import parse_query
from server.use_cases.questions.looked_at import LookedAt
from server.use_cases.questions.studies.layouts import (
    MOST_KEY_VALUES,
    MOST_LOOKED_FOR,
    Gridding,
    KnownRows,
)
from server.use_cases.questions.studies.steps import Steps
from tests.golden.reference_pages import hospital

BY_AGE = "SELECT age, COUNT(*) AS n FROM encounters GROUP BY age"


def question(sql=BY_AGE):
    """What a study reads of a question: its plan."""
    plan = bind_query(parse_query(sql), hospital(), NO_BOUNDS).plan
    return SimpleNamespace(bound=SimpleNamespace(plan=plan))


def test_pairs_are_looked_for_as_long_as_steps_are_left_and_then_cost_nothing():
    """Counted though nothing was looked for, 24 questions took 107 seconds."""
    looked_at = LookedAt()
    known = KnownRows(Steps(looked_at))
    plan = question().bound.plan
    found = []
    for _ in range(60):
        (wanted,), (base,) = grids_of(plan), grids_of(plan)
        found.append(known.of(wanted, base))
        assert known.of(wanted, base) is found[-1] or found[-1] is None
    done = [each for each in found if each is not None]
    assert 0 < len(done) < len(found)
    assert found[: len(done)] == done
    assert looked_at.cells <= MOST_LOOKED_FOR


def test_keys_of_a_study_are_read_as_long_as_they_are_few_and_are_counted():
    """2,000 values of each of 24 questions took six seconds, and none were counted."""
    looked_at = LookedAt()
    gridding = Gridding(Steps(looked_at))
    one = question()
    size = len(one.bound.plan.keys[0].values)
    found = [gridding.of(one) for _ in range(MOST_KEY_VALUES // size + 2)]
    assert [bool(each.counted) for each in found] == [True] * (len(found) - 2) + [
        False
    ] * 2
    assert found[-1].grids == (None,)
    assert looked_at.cells == 2 * size * (len(found) - 2)
