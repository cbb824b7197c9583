"""Figures 3, 6 and 7 and section IV.3.1 of the thesis, recomputed."""

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.effort import rounds
from tests.unit.upstream.trajectories.lda.thesis import (
    AGES,
    CODES,
    figure_3a,
    text,
)
from upstream.trajectories.codes.icd9cm import icd9cm_tree
from upstream.trajectories.lda.alignment import align, align_by_index, fill_matrices
from upstream.trajectories.lda.trajectories import Weights, cohort_of

ONES = Weights(1, 1)


def aligned(cohort, left, right, how=align):
    """Return the alignment of two trajectories of figure 3a, by their numbers."""
    trajectories = cohort.trajectories
    return how(trajectories[left - 1], trajectories[right - 1], cohort.losses)


def test_figure_7_is_computed_with_the_printed_losses():
    cohort = figure_3a()
    t4, t1 = cohort.trajectories[3], cohort.trajectories[0]
    tables = fill_matrices(t4, t1, cohort.losses)
    assert tables.code == [
        [0, 0.5, 1, 1.5],
        [0.5, 1, 1.5, 2],
        [1, 0.5, 1, 1.5],
        [1.5, 1, 0.5, 1],
        [2, 1.5, 1, 0.5],
    ]
    assert tables.age == [
        [0, 0.5, 1, 1.5],
        [0.5, 0, 0.5, 1],
        [1, 0.5, 0.25, 0.75],
        [1.5, 1, 0.5, 0.75],
        [2, 1.5, 1, 0.5],
    ]
    drawn = ["".join(s.value if s else " " for s in row) for row in tables.steps]
    assert drawn == [" ←←←", "↑↖←←", "↑↖↖←", "↑↑↖↖", "↑↑↑↖"]


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (4, 1, "(401.1, 33) (401.1, 34) (401.1, 35)"),
        (2, 3, "(401, 38) (401.1, 40)"),
        (5, 6, "(401.1, [39-40]) (401.9, 40)"),
    ],
)
@pytest.mark.parametrize("reading", ["printed", "difference"])
def test_figure_3c_is_published(left, right, expected, reading):
    cohort = figure_3a(reading)
    found = aligned(cohort, left, right)
    assert text(cohort.losses, found.trajectory) == expected


def test_the_first_pair_of_the_fourth_record_is_suppressed():
    found = aligned(figure_3a(), 4, 1)
    assert found.matches == ((1, 0), (2, 1), (3, 2))
    assert (found.code_loss, found.age_loss) == (0.5, 0.5)


def test_definition_4_gives_other_losses_and_the_same_trajectory():
    cohort = figure_3a("difference")
    t4, t1 = cohort.trajectories[3], cohort.trajectories[0]
    tables = fill_matrices(t4, t1, cohort.losses)
    assert tables.code[-1][-1] == pytest.approx(1 / 3)
    assert tables.age[-1][-1] == pytest.approx(0.4375)
    assert tables.age[0] == [0, 0.4375, 0.875, 1.3125]


def test_the_real_hierarchy_makes_401_cheap():
    """Printed is 1 for the first pairs: that holds only if 401 is the root."""
    cohort = figure_3a(codes=icd9cm_tree(["401.0", "401.1", "401.9"]))
    t4, t1 = cohort.trajectories[3], cohort.trajectories[0]
    tables = fill_matrices(t4, t1, cohort.losses)
    assert tables.code[1][1] < 0.01
    found = aligned(cohort, 4, 1)
    assert text(cohort.losses, found.trajectory) == (
        "(401.1, 33) (401.1, 34) (401.1, 35)"
    )
    assert found.code_loss == pytest.approx(0.5, abs=0.01)


def section_iv_3_1(reading):
    records = [
        [("401.1", 34), ("401.1", 35), ("401.1", 37)],
        [("401.1", 34), ("401.1", 36)],
    ]
    return cohort_of(records, CODES, AGES, ONES, reading)


def test_section_iv_3_1_weighs_4_against_2_5_against_6():
    cohort = section_iv_3_1("printed")
    x, y = cohort.trajectories
    tables = fill_matrices(x, y, cohort.losses)
    total = [
        [i + a for i, a in zip(*rows, strict=True)]
        for rows in zip(tables.code, tables.age, strict=True)
    ]
    assert total[2][1] + 2 == 4  # 37 and 36 become [33-40]: twice 1
    assert total[2][2] + 2 == 2.5
    assert total[3][1] + 2 == 6
    found = align(x, y, cohort.losses)
    assert text(cohort.losses, found.trajectory) == "(401.1, 34) (401.1, [35-36])"
    assert (found.code_loss, found.age_loss) == (1, 1.5)


def test_section_iv_3_1_loses_less_by_definition_4():
    cohort = section_iv_3_1("difference")
    found = align(*cohort.trajectories, cohort.losses)
    assert text(cohort.losses, found.trajectory) == "(401.1, 34) (401.1, [35-36])"
    assert found.code_loss + found.age_loss == pytest.approx(2 / 3 + 7 / 8 + 2 / 8)


def test_baseline_matches_pairs_of_one_index():
    cohort = figure_3a()
    found = aligned(cohort, 4, 1, align_by_index)
    assert text(cohort.losses, found.trajectory) == (
        "(401, 33) (401.1, [33-34]) (401.1, [33-36])"
    )
    assert (found.code_loss, found.age_loss) == (3, 2.5)
    cohort = figure_3a(weights=ONES)
    found = aligned(cohort, 4, 1)
    assert (found.code_loss, found.age_loss) == (1, 1)


@pytest.mark.parametrize("how", [align, align_by_index])
def test_what_x_lost_before_is_added(how):
    cohort = figure_3a()
    x, y = cohort.trajectories[:2]
    once, again = how(x, y, cohort.losses), how(x, y, cohort.losses, (2.0, 3.0))
    assert again.code_loss == once.code_loss + 2
    assert again.age_loss == once.age_loss + 3


@pytest.mark.parametrize("how", [align, align_by_index])
def test_an_empty_trajectory_suppresses_the_other(how):
    cohort = figure_3a(weights=ONES)
    found = how((), cohort.trajectories[1], cohort.losses)
    assert (found.trajectory, found.matches) == ((), ())
    assert (found.code_loss, found.age_loss) == (2, 2)


def least_loss(x, y, losses):
    """Return the least loss of any order-preserving matching, by trying them all."""
    if not x or not y:
        rest, w = x or y, losses.weights
        return sum(
            w.code * losses.code.suppressing[c] + w.age * losses.age.suppressing[a]
            for c, a in rest
        )
    w = losses.weights
    merged = w.code * losses.code.merging[x[0][0], y[0][0]]
    merged += w.age * losses.age.merging[x[0][1], y[0][1]]
    return min(
        merged + least_loss(x[1:], y[1:], losses),
        least_loss(x[:1], (), losses) + least_loss(x[1:], y, losses),
        least_loss(y[:1], (), losses) + least_loss(x, y[1:], losses),
    )


PAIRS = st.sampled_from(list(product(["401.0", "401.1", "401.9"], range(33, 41))))
RECORD = st.lists(PAIRS, max_size=4)


@settings(max_examples=rounds(1000, gate=60), deadline=None)
@given(RECORD, RECORD, st.sampled_from(["printed", "difference"]), st.floats(0, 1))
def test_no_matching_loses_less(left, right, reading, weight):
    weights = Weights(weight, 1 - weight)
    cohort = cohort_of([left, right], CODES, AGES, weights, reading)
    x, y = cohort.trajectories
    found = align(x, y, cohort.losses)
    loss = found.code_loss + found.age_loss
    assert loss == pytest.approx(least_loss(x, y, cohort.losses))
    for (code, age), (h, j) in zip(found.trajectory, found.matches, strict=True):
        assert cohort.losses.merged(x[h], y[j]) == (code, age)
