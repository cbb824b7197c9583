"""Censoring ends, and what it leaves is k-map; figure 1 of the thesis."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.effort import rounds
from upstream.trajectories.gccens.censoring import censor, is_k_map
from upstream.trajectories.gccens.losses import spread_of, utility_losses

SAMPLE = [["250"], ["272", "272", "724"], ["250", "250", "272"]]
POPULATION = [
    ["250"],
    ["250", "250", "272"],
    ["250", "250", "272", "272"],
    ["401", "401", "401", "401"],
    ["272", "272", "724"],
    ["250"],
    ["272", "724"],
]
CAPS = {"250": 2, "272": 2, "401": 0, "724": 1}


def supporters(record, population):
    """Return how many people have each code of a record at least as often."""
    need = Counter(record)
    return sum(
        all(list(person).count(code) >= count for code, count in need.items())
        for person in population
    )


def test_the_lowest_code_first_gives_the_printed_sample():
    """250 of the third record is censored first, though only the second violates."""
    censored = censor(SAMPLE, POPULATION, 2, CAPS)
    assert censored.records() == [("250",), ("272", "724"), ("250", "272")]
    assert list(utility_losses(censored)) == pytest.approx([0, 1 / 3, 1 / 3])
    assert list(censored.supporters) == [4, 2, 2]


def test_censoring_only_while_needed_loses_one_code():
    censored = censor(SAMPLE, POPULATION, 2, CAPS, "while_needed")
    assert censored.records() == [("250",), ("272", "724"), ("250", "250", "272")]
    assert utility_losses(censored).sum() == pytest.approx(1 / 3)


@pytest.mark.parametrize("strategy", ["by_caps", "while_needed"])
@pytest.mark.parametrize("caps", [0, 1, 9, {**CAPS, "401": 7}])
def test_caps_of_0_and_above_all_counts_end(caps, strategy):
    censored = censor(SAMPLE, POPULATION, 3, caps, strategy)
    assert (censored.supporters >= 3).all()
    assert is_k_map(censored.records(), POPULATION, 3)


def test_the_check_finds_what_is_no_k_map():
    assert not is_k_map(SAMPLE, POPULATION, 2)
    assert is_k_map([], POPULATION, 2)


@pytest.mark.parametrize("k", [0, 8])
def test_a_k_that_no_sample_can_reach_is_refused(k):
    with pytest.raises(ValueError, match="people"):
        censor(SAMPLE, POPULATION, k, 3)


def test_losses_are_told_from_those_of_the_caps():
    censored = censor([["a"] * 4, ["a"]], [["a"] * 4, ["a"]], 2, 2)
    assert censored.records() == [("a",), ("a",)]
    assert list(utility_losses(censored)) == [0.75, 0]
    assert list(utility_losses(censored, "capped")) == [0.5, 0]


def test_losses_are_summed_up_by_their_moments():
    spread = spread_of(np.array([0, 0, 0, 1.0]))
    assert (spread.mean, spread.median, spread.changed) == (0.25, 0, 0.25)
    assert spread.standard_deviation == pytest.approx(3**0.5 / 4)
    assert spread.skewness == pytest.approx(2 / 3**0.5)
    assert spread_of(np.zeros(3)).skewness == 0
    with pytest.raises(ValueError, match="no record"):
        spread_of(np.array([]))


RECORDS = st.lists(st.lists(st.sampled_from("abcd"), max_size=6), max_size=8)


@settings(max_examples=rounds(10_000, gate=100), deadline=None)
@given(
    RECORDS,
    RECORDS,
    st.integers(1, 4),
    st.fixed_dictionaries(dict.fromkeys("abcd", st.integers(0, 7))),
    st.sampled_from(["by_caps", "while_needed"]),
)
def test_every_run_ends_and_is_k_map_within_the_caps(sample, others, k, caps, how):
    population = [*sample, *others, *[[]] * k]
    censored = censor(sample, population, k, caps, how)
    for before, after in zip(sample, censored.records(), strict=True):
        assert supporters(after, population) >= k
        assert Counter(after) <= Counter(before)
        assert all(after.count(code) <= caps[code] for code in "abcd")
