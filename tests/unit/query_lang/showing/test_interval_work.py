"""How often intervals ask for noise: once for each number of each cell, not more."""

from fractions import Fraction

import pytest

from query_lang.showing.confidence import intervals_of
from tests.support.compiling import compile_query
from tests.support.data.hospital import HOSPITAL

SHARE = "COUNT(CASE WHEN visits < 3 THEN 1 END) / COUNT(*)"
GREATEST = f"MAX({SHARE}) OVER (PARTITION BY age)"


class Asked:
    """Counts how many sums and ratios are asked for, and in how many calls."""

    def __init__(self):
        self.numbers = self.calls = 0

    def _told(self, asked, told):
        self.numbers += len(asked)
        self.calls += bool(asked)
        return [told] * len(asked)

    def half_width(self, vector, confidence):
        del vector, confidence
        return 30

    def sum_half_widths(self, sums, miss):
        del miss
        return self._told(sums, Fraction(30))

    def ratio_bounds(self, ratios, miss):
        del miss
        return self._told(ratios, (Fraction(0), Fraction(1)))


@pytest.mark.parametrize(
    "column",
    [
        SHARE,
        GREATEST,
        f"RANK() OVER (PARTITION BY age ORDER BY {GREATEST})",
        f"RANK() OVER (PARTITION BY level ORDER BY {GREATEST})",
        f"RANK() OVER (ORDER BY {GREATEST} - MIN({SHARE}) OVER (PARTITION BY level))",
    ],
)
def test_the_noise_of_a_cell_is_asked_for_once_whatever_windows_read_it(column):
    query = compile_query(
        f"SELECT age, level, {column} AS x FROM encounters GROUP BY age, level",
        HOSPITAL,
    )
    cells = len(query.rendered.cells)
    asked = Asked()
    vectors = [[200] * cells for _ in query.measures]
    intervals_of(query, vectors, asked, Fraction(95, 100))
    assert cells <= asked.numbers <= 2 * cells + 2  # of two windows, and a difference
    assert asked.calls <= 4
