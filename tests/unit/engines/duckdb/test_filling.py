"""Cells are found in few steps, whatever numbers a text made their keys of."""

from itertools import product

import pytest

from engines.duckdb.filling import Places, fill
from query_lang.plans.rendered import Statement

MODULUS = 2**61 - 1
"""Of Python's hash of whole numbers."""

ALIKE = [step * MODULUS for step in range(-4, 5)]
"""All whole numbers of 64 bits that have the hash 0."""


class Counted(int):
    """A number that counts how often it is compared."""

    compared = 0
    __hash__ = int.__hash__

    def __eq__(self, other):
        Counted.compared += 1
        return int.__eq__(self, other)


def keys():
    return tuple(tuple(map(Counted, key)) for key in product(ALIKE, repeat=4))


def test_keys_of_one_hash_are_found_in_few_comparisons():
    stored, asked = keys(), keys()
    assert len({hash(tuple(map(int, key))) for key in stored}) == 1
    Counted.compared = 0
    places = Places(stored)
    assert [places.find(key) for key in asked] == list(range(len(stored)))
    most_a_value = len(ALIKE)
    assert Counted.compared <= 2 * len(stored) * 4 * most_a_value


def test_keys_that_no_cell_has_have_no_place():
    places = Places([(1, "a"), (1, "b"), (2, "a"), (None, "b")])
    assert [places.find(key) for key in [(2, "b"), (3, "a"), (None, "a")]] == [None] * 3
    assert places.find((None, "b")) == 3


def test_rows_in_places_that_are_to_be_empty_are_dropped():
    filled = {}
    statement = Statement("", (), (("a",), ("b",), ("c",)), (0,), empty=(0, 2))
    fill(filled, statement, [("b", 2), ("a", 7), ("d", 1)])
    assert filled == {0: [0, 2, 0]}


def test_no_keys_are_one_cell():
    assert Places([()]).find(()) == 0


def test_a_key_that_stands_twice_is_refused():
    with pytest.raises(ValueError, match="two cells"):
        Places([(1, 2), (2, 1), (1, 2)])
