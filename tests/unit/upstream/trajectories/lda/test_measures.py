"""LM over the pairs that records had, and the levels that are left."""

import pytest

from tests.unit.upstream.trajectories.lda.thesis import AGES, CODES, figure_3a
from upstream.trajectories.lda.clustering import clusters_of
from upstream.trajectories.lda.measures import cohort_loss, fates, level_shares
from upstream.trajectories.lda.trajectories import cohort_of


def test_figure_3c_lost_what_changed_and_what_is_suppressed():
    cohort = figure_3a()
    lost = cohort_loss(cohort, clusters_of(cohort, 2))
    # T2 and T3 lose a code of two, T4 a pair of four; T5 and T6 an age of two, 2/8.
    assert lost.code == pytest.approx((1 / 2 + 1 / 2 + 1 / 4) / 6)
    assert lost.age == pytest.approx((1 / 4 + 1 / 8 + 1 / 8) / 6)
    assert lost.suppressed == pytest.approx(1 / 15)


def test_what_is_suppressed_whole_lost_everything_and_is_no_division_by_0():
    cohort = cohort_of([[("401.1", 33)], []], CODES, AGES, reading="printed")
    clusters = clusters_of(cohort, 2)
    lost = cohort_loss(cohort, clusters)
    assert (lost.code, lost.age, lost.suppressed) == (0.5, 0.5, 1)
    assert level_shares(cohort, clusters).code == {"0": 1, "1": 0}


def test_levels_are_shares_of_all_pairs():
    cohort = figure_3a()
    shares = level_shares(cohort, clusters_of(cohort, 2))
    assert shares.code == pytest.approx({"0": 3 / 15, "1": 12 / 15})
    assert shares.age == pytest.approx(
        {"8 years": 1 / 15, "4 years": 0, "2 years": 2 / 15, "1 year": 12 / 15}
    )


def test_the_fate_of_each_pair_is_told():
    cohort = figure_3a()
    told = [own for own in fates(cohort, clusters_of(cohort, 2)) if len(own) == 4]
    before, after = zip(*told[0], strict=True)
    assert before == cohort.trajectories[3]
    assert after == (None, *before[1:])
