"""Upper ends of runs: the least of what was drawn of their parts."""

import numpy as np
import pytest

from release.contract.intervals import WEIGHTED_QUANTILE
from release.sequences.estimation.chains import PUSHED, GramLevel
from release.sequences.estimation.gram_ends import GramEnds

SCALE, THRESHOLD, CHILDREN, LEAST = 4.0, 20, 2.0, 9


def level(grams, scales=()):
    """Return a level of (parent, symbol, count); children of some were counted."""
    parents, symbols, counts = (np.array(each) for each in zip(*grams, strict=True))
    own = np.array([*scales, *[0.0] * (len(grams) - len(scales))])
    least = np.where(own > 0, LEAST, 0)
    return GramLevel(parents, symbols, counts, own, least)


ENDS = GramEnds(
    levels=(
        level([(0, 0, 90), (0, 2, 50), (0, -1, 70)], [CHILDREN]),
        level([(0, 1, 30), (0, 2, 12)]),
    ),
    scale=SCALE,
    threshold=THRESHOLD,
    symbols=3,
    groups=1,
)
FAR, NEAR = PUSHED * SCALE, PUSHED * CHILDREN


@pytest.mark.parametrize(
    ("run", "end"),
    [
        ((0,), 90 + FAR),
        ((1,), THRESHOLD + FAR),  # it was not kept
        ((0, 2), 12 + NEAR),
        ((0, 0), LEAST + NEAR),  # counted, and not kept
        ((2, 0), 50 + FAR),  # its children were not counted: it may be all of them
        ((2, 2, 1), THRESHOLD + FAR),
        ((0, 2, 2), 12 + NEAR),
        ((2, 0, 2), 12 + NEAR),
    ],
)
def test_no_run_occurs_more_often_than_any_part_of_it(run, end):
    (found,), _ = ENDS.of(0, np.array([run]))
    assert found == pytest.approx(end)


def test_ends_hold_for_runs_together_as_for_each():
    runs = np.array([(0, 2), (0, 0), (2, 0), (1, 1)])
    apart = [ENDS.of(0, run[None], long=9) for run in runs]
    for number, found in enumerate(ENDS.of(0, runs, long=9)):
        assert found.tolist() == [each[number][0] for each in apart]


@pytest.mark.parametrize(
    ("run", "value", "scale", "parts"),
    [
        ((0,), 90, SCALE, 1),
        ((0, 2), 12, CHILDREN, 3),  # both symbols and the pair
        ((0, 0), LEAST, CHILDREN, 2),  # one symbol says no more a second time
        ((2, 0), 50, SCALE, 2),
    ],
)
def test_the_more_parts_the_further_out_all_ends_hold_together(
    run, value, scale, parts
):
    _, (found,) = ENDS.of(0, np.array([run]))
    assert found == pytest.approx(value + (PUSHED + np.log(parts)) * scale)


def test_what_a_sample_may_have_missed_comes_on_top_of_the_noise():
    _, (found,) = ENDS.of(0, np.array([(0,)]), long=25)
    assert found == pytest.approx(90 + np.hypot(FAR, 5 * WEIGHTED_QUANTILE))


def test_another_group_has_its_own_grams():
    both = GramEnds(
        (level([(0, 0, 90), (1, 0, 40)]),), SCALE, THRESHOLD, symbols=3, groups=2
    )
    runs = np.array([(0,), (2,)])
    assert both.of(0, runs)[0] == pytest.approx([90 + FAR, THRESHOLD + FAR])
    assert both.of(1, runs)[0] == pytest.approx([40 + FAR, THRESHOLD + FAR])
