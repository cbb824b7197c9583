"""The budget of a tree of grams: no path spends more than was paid."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.errors import UnpaidMeasurementError
from mechanisms.measuring.meter import Meter, Part
from mechanisms.measuring.path_budget import LevelRule
from mechanisms.scales.calibration import laplace_scale
from privacy.charges import Charge
from privacy.counts import SparseCounts
from privacy.errors import InvalidLossError
from privacy.losses import Loss
from privacy.sealed import Exact
from tests.support.noise.meters import SeededSampler
from tests.support.noise.samplers import ZeroVectorSampler

FANOUT = 3
TEN = Loss.parse("10")


class Unopened:
    """A seal that must stay closed."""

    def unseal(self):
        raise AssertionError


def fresh(loss=TEN, l1=1, sampler=None):
    parts = [Part("grams", loss)]
    meter = Meter(Charge("r_test", loss), parts, sampler or ZeroVectorSampler())
    return meter.path_budget("grams", l1)


def array(*values):
    return np.array(values, dtype=np.int64)


def rule(parents, shares, least=1, fanout=FANOUT):
    thresholds = np.full(len(parents), least, dtype=np.int64)
    return LevelRule(array(*parents), array(*shares), thresholds, fanout)


def full(nodes, fanout=FANOUT, count=100):
    cells = np.arange(nodes * fanout, dtype=np.int64)
    return Exact(SparseCounts(cells, np.full(len(cells), count, dtype=np.int64)))


def test_a_part_pays_for_one_tree_of_paths():
    meter = Meter(Charge("r", TEN), [Part("grams", TEN)], ZeroVectorSampler())
    meter.path_budget("grams", 1)
    with pytest.raises(UnpaidMeasurementError):
        meter.path_budget("grams", 1)


def test_what_a_level_spends_is_taken_from_each_of_its_paths():
    budget = fresh(Loss(10))
    budget.measure(full(1), rule([0], [4]))
    assert budget.left.tolist() == [6, 6, 6]
    budget.measure(full(2), rule([0, 2], [1, 5]))
    assert budget.left.tolist() == [5, 5, 5, 1, 1, 1]


@pytest.mark.parametrize(
    ("parents", "shares"),
    [
        ([0], [7]),
        ([0, 1], [6, 7]),
        ([0], [0]),
        ([0], [-1]),
        ([1, 0], [1, 1]),
        ([1, 1], [1, 1]),
        ([3], [1]),
        ([-1], [1]),
        ([], []),
        ([0, 1], [1]),
    ],
)
def test_what_is_unpaid_opens_no_seal_and_spends_nothing(parents, shares):
    budget = fresh(Loss(10))
    budget.measure(full(1), rule([0], [4]))
    with pytest.raises(UnpaidMeasurementError):
        budget.measure(Unopened(), rule(parents, shares))
    assert budget.left.tolist() == [6, 6, 6]


def test_a_share_too_small_for_any_noise_opens_no_seal_and_spends_nothing():
    budget = fresh(TEN, l1=2**20)
    with pytest.raises(InvalidLossError):
        budget.measure(Unopened(), rule([0], [1]))
    assert budget.left.tolist() == [TEN.nano_epsilon]


def test_a_threshold_below_one_opens_no_seal_and_spends_nothing():
    budget = fresh()
    with pytest.raises(ValueError, match="threshold"):
        budget.measure(Unopened(), rule([0], [1000], least=0))
    assert budget.left.tolist() == [TEN.nano_epsilon]


def test_no_level_is_counted_below_twice():
    budget = fresh(Loss(10))
    budget.measure(full(1), rule([0], [2]))
    budget.measure(full(1), rule([1], [2]))
    assert budget.left.tolist() == [6, 6, 6]  # of the grandchildren alone
    budget.measure(full(3, count=0), rule([0, 1, 2], [6, 6, 6]))
    assert budget.left.tolist() == []


def test_a_path_that_ends_leaves_nothing_to_spend():
    budget = fresh(Loss(10))
    budget.measure(full(1), rule([0], [2], least=101))
    with pytest.raises(UnpaidMeasurementError):
        budget.measure(Unopened(), rule([0], [1]))


@given(st.integers(1, 10**10), st.integers(1, 40), st.data())
@settings(max_examples=150, deadline=None)
def test_no_path_of_any_tree_spends_more_than_the_part(nano, l1, data):
    """Whatever is asked, the exact loss of every path is at most the part."""
    loss = Loss(nano + 10**6)
    budget = fresh(loss, l1, SeededSampler(seed=data.draw(st.integers(0, 9))))
    spent = np.array([Fraction(0)])
    for _ in range(data.draw(st.integers(1, 6))):
        left = budget.left
        nodes = np.flatnonzero(left > 10**5)[:40]
        picked = nodes[[data.draw(st.booleans()) for _ in nodes]]
        if not len(picked):
            break
        shares = array(*(data.draw(st.integers(10**5, int(left[n]))) for n in picked))
        noisy = budget.measure(full(len(picked)), rule(picked, shares))
        owners = noisy.cells // FANOUT
        scales = np.array([1 / Fraction(scale) for scale in noisy.scales])
        spent = spent[picked][owners] + l1 * scales[owners]
        assert all(path <= loss.epsilon for path in spent)
        used = (loss.nano_epsilon - budget.left).tolist()
        assert all(
            path <= Fraction(nano, 10**9)
            for path, nano in zip(spent, used, strict=True)
        )


def test_each_parents_children_get_the_noise_that_it_pays_for():
    budget = fresh(l1=7)
    noisy = budget.measure(full(1), rule([0], [10**9]))
    assert noisy.scales == (laplace_scale(Fraction(7), Loss(10**9)),)
    noisy = budget.measure(full(3), rule([0, 1, 2], [10**9, 2 * 10**9, 10**9]))
    assert [scale / noisy.scales[0] for scale in noisy.scales] == pytest.approx(
        [1, 0.5, 1]
    )


def test_without_noise_the_children_at_their_parents_threshold_are_kept():
    budget = fresh()
    budget.measure(full(1), rule([0], [1]))
    counts = SparseCounts(array(0, 1, 4, 5, 8), array(5, 4, 9, 8, 7))
    asked = LevelRule(
        array(0, 1, 2), array(10**9, 2 * 10**9, 10**9), array(5, 9, 5), FANOUT
    )
    noisy = budget.measure(Exact(counts), asked)
    assert noisy.cells.tolist() == [0, 4, 8]
    assert noisy.values.tolist() == [5, 9, 7]


@pytest.mark.statistical
def test_children_are_kept_as_often_as_if_each_had_got_its_own_noise():
    """Many parents with three shares, against the exact law; chi-squared by cell."""
    budget = fresh(sampler=SeededSampler(seed=5))
    nodes, least = 30_000, 3
    budget.measure(full(1, nodes), rule([0], [10**9], fanout=nodes))
    known = len(budget.left)
    parents = np.arange(known)
    shares = np.array([10**9, 5 * 10**8, 2 * 10**9])[parents % 3]
    cells = np.arange(0, known * FANOUT, FANOUT)  # one child of each has two
    raw = SparseCounts(cells, np.full(known, 2, dtype=np.int64))
    thresholds = np.full(known, least, dtype=np.int64)
    noisy = budget.measure(Exact(raw), LevelRule(parents, shares, thresholds, FANOUT))
    for kind, share in enumerate((1, 0.5, 2)):
        a = np.exp(-share)
        own = (noisy.cells // FANOUT) % 3 == kind
        for child, reach in ((0, least - 2), (1, least), (2, least)):
            hits = int((own & (noisy.cells % FANOUT == child)).sum())
            probability = a**reach / (1 + a)
            mean = probability * (parents % 3 == kind).sum()
            assert abs(hits - mean) < 6 * np.sqrt(mean)
