"""Who fits a record: multisets are contained in multisets."""

import numpy as np
import pytest

from upstream.trajectories.gccens import profiles
from upstream.trajectories.gccens.profiles import (
    capped,
    caps_of,
    codes_of,
    counts_of,
    population_of,
)

CODES = ("250", "272", "401", "724")
PEOPLE = [
    ["250"],
    ["250", "250", "272"],
    ["250", "250", "272", "272"],
    ["401"] * 4,
    ["272", "272", "724"],
    ["250"],
    ["272", "724"],
]


def test_two_people_have_both_272_and_724():
    population = population_of(counts_of(PEOPLE, CODES))
    assert population.size == 7
    assert population.supporters(counts_of([["272", "724"]], CODES)) == [2]


def test_figure_1_is_recomputed_as_4_1_2():
    """Printed is dis(s3) = 1; no reading gives that and the printed end."""
    sample = [["250"], ["272", "272", "724"], ["250", "250", "272"]]
    population = population_of(counts_of(PEOPLE, CODES))
    assert list(population.supporters(counts_of(sample, CODES))) == [4, 1, 2]


def test_an_empty_record_fits_everybody():
    population = population_of(counts_of(PEOPLE, CODES))
    assert population.supporters(counts_of([[]], CODES)) == [7]


def test_people_who_have_more_than_any_record_are_equal():
    counts = counts_of(PEOPLE, CODES)
    population = population_of(counts, np.array([1, 1, 0, 1]))
    assert len(population.people) < len(population_of(counts).people)
    assert population.size == 7


def test_many_records_are_compared_part_by_part(monkeypatch):
    monkeypatch.setattr(profiles, "_CELLS", 1)
    population = population_of(counts_of(PEOPLE, CODES))
    records = counts_of([["250"], ["401"], ["250", "272"]], CODES)
    assert list(population.supporters(records)) == [4, 1, 2]


def test_codes_are_sorted_and_unlisted_ones_refused():
    assert codes_of([["b", "a"]], [["c", "a"]]) == ("a", "b", "c")
    with pytest.raises(KeyError):
        counts_of([["c"]], ("a", "b"))


def test_caps_cut_counts():
    assert list(caps_of(3, CODES)) == [3, 3, 3, 3]
    caps = caps_of({"a": 1, "b": 0}, ("a", "b"))
    assert capped(np.array([[2, 2]]), caps).tolist() == [[1, 0]]
    with pytest.raises(ValueError, match="0 or more"):
        caps_of(-1, CODES)
    with pytest.raises(KeyError):
        caps_of({"a": 1}, ("a", "b"))
