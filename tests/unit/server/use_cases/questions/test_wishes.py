"""What an accuracy costs, by public facts and by noisy numbers."""

from fractions import Fraction

import pytest

from mechanisms.scales.half_widths import half_width
from mechanisms.scales.misses import beyond
from mechanisms.scales.pricing import price
from privacy.errors import InvalidLossError, InvalidOptionError
from privacy.losses import Loss
from server.use_cases.questions.requests import Accuracy
from server.use_cases.questions.wishes.prices import (
    KnownNumbers,
    priced_wish,
    vectors_of,
)
from server.use_cases.questions.wishes.ranges import LossRange
from tests.support.compiling import compile_query
from tests.support.data.answers import compiled, measure, number
from tests.support.data.hospital import HOSPITAL

LOSSES = LossRange(Loss.parse("0.001"), Loss.parse("5"))
SURE = Fraction(95, 100)
CELLS = tuple((n,) for n in range(20))
QUESTION = compiled([number(0)], [measure(l1=2)], CELLS)
RELATIVE = Accuracy(Fraction(10), SURE, relative=Fraction(1, 20))


def scale_at(loss):
    return price(*vectors_of(QUESTION), loss).vectors[0].scale


def nothing(_):
    return None


def of_size(*least):
    """Return what finds numbers of just these sizes."""
    sizes = [list(least)]
    return lambda _: KnownNumbers(sizes, sizes, ["q_1"])


def between(least, most):
    """Return what finds all numbers between two sizes."""
    found = KnownNumbers([[least] * 20], [[most] * 20], ["q_1"])
    return lambda _: found


def just_below(loss):
    return Loss(loss.nano_epsilon - 1)


def test_each_cell_by_itself_is_within_at_the_least_loss():
    loss = priced_wish(QUESTION, LOSSES, Accuracy(Fraction(20), SURE), nothing).loss
    assert half_width(scale_at(loss), SURE) <= 20
    assert half_width(scale_at(just_below(loss)), SURE) > 20


def test_what_may_be_spent_at_most_is_refused_by_its_name():
    wish = Accuracy(Fraction(20), SURE, at_most="40")
    with pytest.raises(InvalidLossError, match=r"accuracy\.at_most: one query may"):
        priced_wish(QUESTION, LOSSES, wish, nothing)


def test_an_accuracy_of_a_ratio_is_of_its_counts():
    two = compile_query("SELECT COUNT(age) / COUNT(*) AS x FROM encounters", HOSPITAL)
    with pytest.raises(InvalidOptionError, match="not of the ratio"):
        priced_wish(two, LOSSES, Accuracy(Fraction(1, 100), SURE), nothing)
    assert priced_wish(two, LOSSES, Accuracy(Fraction(200), SURE), nothing).loss
    half = compile_query("SELECT COUNT(*) / 2 AS x FROM encounters", HOSPITAL)
    with pytest.raises(InvalidLossError):  # it is a number's, of which none is too near
        priced_wish(half, LOSSES, Accuracy(Fraction(1, 2), SURE), nothing)


def test_all_cells_at_once_cost_more_than_each_and_most_of_them_less():
    prices = [
        priced_wish(
            QUESTION, LOSSES, Accuracy(Fraction(20), SURE, cells=cells), nothing
        ).loss
        for cells in (Fraction(1), Fraction(9, 10), Fraction(1, 2))
    ]
    each = priced_wish(QUESTION, LOSSES, Accuracy(Fraction(20), SURE), nothing).loss
    assert prices[0] > prices[1] > prices[2]
    assert prices[0] > each > prices[2]
    miss = beyond(scale_at(prices[0]), 20)
    assert 1 - (1 - miss) ** len(CELLS) <= 0.05
    miss = beyond(scale_at(Loss(prices[0].nano_epsilon - 10)), 20)
    assert 1 - (1 - miss) ** len(CELLS) > 0.0487


def test_a_relative_accuracy_costs_by_public_facts_what_small_numbers_need():
    wish = priced_wish(QUESTION, LOSSES, RELATIVE, nothing)
    sure = 1 - (1 - SURE) * Fraction(19, 20)  # the rest is kept for what may be known
    small = priced_wish(QUESTION, LOSSES, Accuracy(Fraction(10), sure), nothing)
    assert (wish.loss, wish.known) == (small.loss, None)
    assert 100 * wish.probe.nano_epsilon < wish.loss.nano_epsilon
    assert wish.at_best is None  # nothing is known


def test_numbers_that_are_known_to_be_large_make_it_cheaper():
    public = priced_wish(QUESTION, LOSSES, RELATIVE, nothing).loss
    large = priced_wish(QUESTION, LOSSES, RELATIVE, of_size(*[1_000] * 20))
    one_small = priced_wish(QUESTION, LOSSES, RELATIVE, of_size(0, *[1_000] * 19))
    most = Accuracy(Fraction(10), SURE, Fraction(1, 20), cells=Fraction(9, 10))
    mostly = priced_wish(QUESTION, LOSSES, most, of_size(0, *[1_000] * 19))
    assert large.loss < mostly.loss < public
    assert one_small.loss == public  # what is known never makes it dearer
    width = half_width(scale_at(large.loss), 1 - Fraction(5, 100) * Fraction(19, 20))
    assert width <= 50
    assert (large.known.queries, large.probe) == (["q_1"], None)
    assert large.at_best == large.loss


def test_a_further_probe_is_named_as_long_as_it_may_make_it_cheaper():
    paid = Loss.parse("0.002")
    unsure = priced_wish(QUESTION, LOSSES, RELATIVE, between(0, 4_000), lambda: paid)
    assert unsure.probe == Loss(2 * paid.nano_epsilon)
    assert 10 * unsure.at_best.nano_epsilon < unsure.loss.nano_epsilon
    sure = priced_wish(QUESTION, LOSSES, RELATIVE, between(3_600, 4_000), lambda: paid)
    assert sure.probe is None
    unpaid = priced_wish(QUESTION, LOSSES, RELATIVE, between(0, 4_000))
    assert unpaid.probe is None  # what is known is of other questions


def test_the_last_probe_is_what_may_be_the_price():
    dear = Loss.parse("0.02")
    wish = priced_wish(QUESTION, LOSSES, RELATIVE, between(0, 4_000), lambda: dear)
    assert wish.probe == max(wish.at_best, Loss.parse("0.022"))


def test_what_is_known_too_little_of_is_refused_with_a_further_probe():
    wish = Accuracy(Fraction(10), SURE, Fraction(1, 20), at_most="0.05")
    paid = Loss.parse("0.002")
    with pytest.raises(InvalidLossError, match=r"for epsilon 0\.004 first") as raised:
        priced_wish(QUESTION, LOSSES, wish, between(0, 4_000), lambda: paid)
    assert raised.value.probe == Loss.parse("0.004")
    assert "0.052, the most that you allow with what was paid before" in str(
        raised.value
    )


def test_two_sources_say_what_both_say():
    one = KnownNumbers([[5, 20]], [[50, 90]], ["q_1"])
    other = KnownNumbers([[9, 10]], [[60, 80]], (), release=True)
    both = one.and_by(other)
    assert (both.least, both.most) == ([[9, 20]], [[50, 80]])
    assert (both.queries, both.facts) == (["q_1"], "paid")


def test_a_cap_refuses_and_says_what_it_brings():
    with pytest.raises(InvalidLossError, match=r"the most that you allow; that brings"):
        priced_wish(
            QUESTION, LOSSES, Accuracy(Fraction(1), SURE, at_most="0.1"), nothing
        )
    within = Accuracy(Fraction(100), SURE, at_most="0.1")
    assert priced_wish(QUESTION, LOSSES, within, nothing).loss <= Loss.parse("0.1")
    with pytest.raises(InvalidLossError, match="one query may spend"):
        priced_wish(QUESTION, LOSSES, Accuracy(Fraction(1), SURE, at_most="9"), nothing)


def test_what_small_numbers_would_need_is_refused_with_a_probe_to_buy_first():
    wish = Accuracy(Fraction(10), SURE, Fraction(1, 20), at_most="0.2")
    with pytest.raises(InvalidLossError, match=r"for epsilon 0\.\d+ first"):
        priced_wish(QUESTION, LOSSES, wish, nothing)
