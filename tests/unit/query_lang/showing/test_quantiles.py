from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from query_lang.plans.compiled import Bins
from query_lang.showing.quantiles import quantile

COUNTS = st.lists(st.integers(-20, 50), min_size=2, max_size=64)
FRACTIONS = st.fractions(Fraction(1, 1000), Fraction(999, 1000))


@st.composite
def histograms(draw):
    counts = draw(COUNTS)
    lower = draw(st.integers(-1000, 1000))
    if draw(st.booleans()):
        return counts, Bins(lower, lower + len(counts) - 1, len(counts), True)
    width = draw(st.integers(1, 5000))
    return counts, Bins(lower, lower + width, len(counts), one_per_value=False)


@given(histogram=histograms(), fractions=st.tuples(FRACTIONS, FRACTIONS).map(sorted))
def test_a_quantile_never_falls_as_its_fraction_grows(histogram, fractions):
    counts, bins = histogram
    assume(any(count > 0 for count in counts))
    low, high = (quantile(counts, bins, fraction) for fraction in fractions)
    assert low <= high


@given(histogram=histograms(), fraction=FRACTIONS)
def test_a_quantile_lies_within_the_declared_bounds(histogram, fraction):
    counts, bins = histogram
    found = quantile(counts, bins, fraction)
    if max(counts) <= 0:
        assert found is None
    else:
        assert bins.lower <= found <= bins.upper


@given(histogram=histograms(), fraction=FRACTIONS)
def test_a_negative_count_is_as_good_as_none(histogram, fraction):
    counts, bins = histogram
    clamped = [max(0, count) for count in counts]
    assert quantile(counts, bins, fraction) == quantile(clamped, bins, fraction)


@given(histogram=histograms(), fraction=FRACTIONS)
def test_as_much_as_the_fraction_lies_at_or_below_a_quantile(histogram, fraction):
    counts, bins = histogram
    assume(not bins.one_per_value and any(count > 0 for count in counts))
    found = quantile(counts, bins, fraction)
    position = (found - bins.lower) * bins.count / Fraction(bins.upper - bins.lower)
    below = sum(
        max(0, count) * min(1, max(0, position - index))
        for index, count in enumerate(counts)
    )
    assert below == fraction * sum(max(0, count) for count in counts)


def test_every_bin_has_a_count():
    with pytest.raises(ValueError, match="2 counts for 3 bins"):
        quantile([1, 2], Bins(0, 9, 3, one_per_value=False), Fraction(1, 2))
