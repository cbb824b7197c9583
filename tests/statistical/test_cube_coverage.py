"""Every number that a cube's release shows holds its truth, class by class.

Fixed sizes and seeds, so that no run differs from another. A bar is set so far below
93 % as chance could bring intervals of that coverage once in a million choices of the
seeds. Here each strategy is drawn some times over one image; more settings and draws
are ``python -m tests.statistical.cube_coverage``.
"""

import numpy as np
import pytest

from release.cubes.strategies.registry import STRATEGIES
from tests.effort import in_the_audits
from tests.statistical.cube_coverage import (
    GATE,
    LONG,
    WHOLE,
    seen_in,
    too_low,
    too_low_together,
)
from tests.support.data.coverages import DATA, SHAPES, image_of

pytestmark = pytest.mark.long

RUNS, BOXES = 14, 3


@pytest.mark.statistical
@pytest.mark.parametrize(
    "setting",
    [*GATE[:5], *(in_the_audits((one,)) for one in GATE[5:])],
    ids=lambda one: "-".join(map(str, one)),
)
def test_every_class_of_question_holds(setting):
    seen = seen_in(setting, RUNS, BOXES)

    assert too_low(seen, RUNS) == {}


@pytest.mark.statistical
@pytest.mark.parametrize("setting", [LONG[1], *(in_the_audits((one,)) for one in LONG)])
def test_counts_that_lie_at_one_end_of_many_cut_parts_hold(setting):
    seen = seen_in(setting, 4, BOXES)

    assert too_low(seen, 4) == {}


@pytest.mark.long
@pytest.mark.statistical
def test_every_class_holds_over_all_settings_together():
    settings = [seen_in(setting, RUNS, BOXES) for setting in GATE]

    assert too_low_together(settings, RUNS) == {}


def test_every_shape_of_data_and_strategy_is_tried():
    assert {setting[-1] for setting in WHOLE} == set(DATA)
    assert {setting[1] for setting in WHOLE} == set(STRATEGIES)
    assert len({setting[1] for setting in GATE}) == len(GATE)
    for data in DATA:
        assert image_of(data, SHAPES["plane"], 1_000).sum() == 1_000
        assert np.array_equal(*(image_of(data, (9, 8), 50) for _ in range(2)))
