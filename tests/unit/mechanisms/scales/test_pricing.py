import time
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.scales.calibration import laplace_scale
from mechanisms.scales.half_widths import half_width
from mechanisms.scales.pricing import _least, price, solve_accuracy
from privacy.errors import InvalidLossError
from privacy.events import VectorSensitivity
from privacy.losses import ZERO_LOSS, Loss

CONFIDENCE = Fraction(95, 100)
LEAST, MOST = Loss.parse("0.001"), Loss.parse("5")


def counts(l1):
    return VectorSensitivity(Fraction(l1), Fraction(l1), Fraction(1))


def solve(sensitivities, weights, within, confidence=CONFIDENCE):
    return solve_accuracy(
        sensitivities,
        weights,
        withins=[Fraction(w) for w in within]
        if isinstance(within, list)
        else [Fraction(within)] * len(sensitivities),
        confidence=confidence,
        minimum=LEAST,
        maximum=MOST,
    )


def widest(sensitivities, weights, loss):
    event = price(sensitivities, weights, loss)
    return max(half_width(vector.scale, CONFIDENCE) for vector in event.vectors)


def test_one_vector_takes_the_whole_loss():
    event = price([counts(1)], [Fraction(7)], Loss.parse("0.1"))
    assert event.loss == event.vectors[0].loss == Loss.parse("0.1")
    assert event.vectors[0].scale == 10.000000000000002


def test_parts_round_down_and_the_charge_stays_whole():
    event = price([counts(1)] * 3, [Fraction(1)] * 3, Loss.parse("0.1"))
    assert [vector.loss for vector in event.vectors] == [Loss(33_333_333)] * 3
    assert event.loss == Loss(100_000_000)


def test_weights_divide_the_loss_and_never_the_sensitivity():
    event = price([counts(4), counts(4)], [Fraction(3), Fraction(1)], Loss.parse("1"))
    assert [vector.loss for vector in event.vectors] == [
        Loss.parse("0.75"),
        Loss.parse("0.25"),
    ]
    assert [vector.sensitivity.l1 for vector in event.vectors] == [4, 4]
    assert event.vectors[1].scale == laplace_scale(Fraction(4), Loss.parse("0.25"))


@settings(max_examples=20)
@given(
    weights=st.lists(st.fractions(Fraction(1, 50), 50), min_size=1, max_size=8),
    nano=st.integers(10**7, 5 * 10**9),
)
def test_parts_never_sum_to_more_than_the_charge(weights, nano):
    event = price([counts(1)] * len(weights), weights, Loss(nano))
    assert sum((v.loss for v in event.vectors), ZERO_LOSS) <= event.loss


def test_a_part_that_rounds_to_nothing_is_refused():
    with pytest.raises(InvalidLossError):
        price([counts(1)] * 2, [Fraction(1), Fraction(10**10)], Loss.parse("1"))


@pytest.mark.parametrize("weights", [[], [Fraction(0)], [Fraction(-1)]])
def test_weights_are_positive_and_there_is_one(weights):
    with pytest.raises(ValueError, match="positive"):
        price([counts(1)] * len(weights), weights, Loss.parse("1"))


def test_a_weight_stands_for_every_vector():
    with pytest.raises(ValueError, match="zip"):
        price([counts(1)], [Fraction(1), Fraction(1)], Loss.parse("1"))


@settings(max_examples=30)
@given(
    l1s=st.lists(st.integers(1, 40), min_size=1, max_size=3),
    within=st.integers(40, 4_000),
)
def test_the_solved_loss_is_the_least_that_is_accurate_enough(l1s, within):
    sensitivities = [counts(l1) for l1 in l1s]
    weights = [Fraction(n + 1) for n in range(len(l1s))]
    try:
        loss = solve(sensitivities, weights, within)
    except InvalidLossError:
        assert widest(sensitivities, weights, MOST) > within
        return
    assert widest(sensitivities, weights, loss) <= within
    if loss > LEAST:
        assert widest(sensitivities, weights, Loss(loss.nano_epsilon - 1)) > within


@given(bounds=st.tuples(*[st.integers(0, 10**6)] * 3).map(sorted), start=st.integers())
def test_the_search_finds_the_least_wherever_it_starts(bounds, start):
    low, least, high = bounds
    assert _least(lambda n: n >= least, low, high, start=start) == least


def test_the_solved_loss_is_never_below_the_minimum():
    assert solve([counts(1)], [Fraction(1)], 10**6) == LEAST


def test_a_fraction_of_a_unit_is_worth_its_whole_part():
    assert solve([counts(1)], [Fraction(1)], Fraction(41, 2)) == solve(
        [counts(1)], [Fraction(1)], 20
    )


def test_an_accuracy_beyond_the_maximum_is_refused():
    with pytest.raises(InvalidLossError, match="the most that one query"):
        solve([counts(400)], [Fraction(1)], 20)


def test_each_vector_is_wished_for_on_its_own_grid():
    cents, rows = counts(100), counts(1)
    alone = solve([cents], [Fraction(1)], 2_000)
    both = solve([cents, rows], [Fraction(1)] * 2, [2_000, 20])
    assert both.nano_epsilon == pytest.approx(2 * alone.nano_epsilon, rel=0.05)
    event = price([cents, rows], [Fraction(1)] * 2, both)
    assert half_width(event.vectors[0].scale, CONFIDENCE) <= 2_000
    assert half_width(event.vectors[1].scale, CONFIDENCE) <= 20


def test_the_hardest_wish_decides_wherever_it_stands():
    easy_first = solve([counts(1)] * 2, [Fraction(1)] * 2, [10_000, 20])
    assert easy_first == solve([counts(1)] * 2, [Fraction(1)] * 2, [20, 10_000])
    assert easy_first == solve([counts(1)] * 2, [Fraction(1)] * 2, 20)


def test_a_half_width_stands_for_every_vector():
    with pytest.raises(ValueError, match="zip"):
        solve([counts(1)] * 2, [Fraction(1)] * 2, [20])


def test_less_than_nothing_is_no_accuracy():
    with pytest.raises(InvalidLossError):
        solve([counts(1)], [Fraction(1)], -1)


def test_half_a_unit_asks_for_no_noise_at_all_most_of_the_time():
    loss = solve([counts(1)], [Fraction(1)], Fraction(1, 2))
    assert half_width(laplace_scale(Fraction(1), loss), CONFIDENCE) == 0


def test_parts_too_small_for_any_noise_are_not_accurate():
    weights = [Fraction(1), Fraction(10**9)]
    loss = solve([counts(1), counts(1)], weights, 2**42)
    assert price([counts(1), counts(1)], weights, loss).loss == loss


def test_solving_takes_milliseconds():
    solve([counts(1)], [Fraction(1)], 20)  # warm
    start = time.perf_counter()
    solve([counts(3), counts(17)], [Fraction(1), Fraction(2)], 123)
    assert time.perf_counter() - start < 0.25
