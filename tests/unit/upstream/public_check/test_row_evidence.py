"""Catalogues and running numbers identify no rows; encounters and specimens do."""

import random
from collections import Counter

from upstream.public_check.row_evidence import CODE, SHORT, Group, Uses, identifying

RUNNING = Uses(
    50_000,
    0,
    {1: 9, 2: 90, 3: 900, 4: 9_000, 5: 40_001},
    {1: 9, 2: 99, 3: 999, 4: 9_999, 5: 50_000},
)
SPARSE = Uses(600, 0, {6: 600}, {6: 502_000})


def used(rng, size, uses):
    """Return the uses of a catalogue by strangers, and how many codes are in use."""
    counts = Counter(rng.choices(range(size), k=uses))
    return Uses(uses, sum(n for n in counts.values() if n > 1)), len(counts)


def test_no_catalogue_is_taken_for_rows_however_little_of_it_is_used():
    rng = random.Random(11)
    for _ in range(400):
        size = rng.randrange(10, 5_000)
        uses, in_use = used(rng, size, rng.randrange(6, 2 * size))
        shared = [Group(within=False, length=CODE, cells=size, found=in_use)]
        assert not identifying(shared, uses, namesakes=False)
        assert not identifying(shared, uses, namesakes=True)


def test_rows_are_found_though_most_of_a_table_is_of_other_years():
    for length in (CODE, 6):
        shared = [Group(within=False, length=length, cells=6_000, found=600)]
        assert identifying(shared, SPARSE, namesakes=False) == shared


def test_running_numbers_are_nobodys_but_in_a_column_of_the_same_name():
    prices = [
        Group(within=False, length=5, cells=40_001, found=40_001),
        Group(within=False, length=SHORT, cells=9_999, found=9_999),
    ]
    assert not identifying(prices, RUNNING, namesakes=False)
    assert identifying(prices, RUNNING, namesakes=True) == prices
