"""When an answer is useful: the one definition of this benchmark.

An answer is useful if 95 % of the noise of each of its cells lies within a tolerance:
of a count a tenth of the true number, or 20 where that is more; of an average or a
share a tenth of the true one. Questions whose largest true count is below 20 (of a
mean, the rows that it is over) are left out for every driver: a tolerance as large as
the number itself tells nothing, and nobody could do better. So are cells of means over
fewer rows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Final

import duckdb

from benchmarks.economy.asking import Cell
from benchmarks.economy.questions import STAYS, Meaning, Question
from benchmarks.economy.wordings import worded

RELATIVE: Final = 0.1
AT_LEAST: Final = 20
WISH: Final = {"relative": "10%", "at_least": AT_LEAST}
"""The same, as a request says it."""

Group = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Truth:
    """What is true of a question.

    Attributes:
        values: By group, of a mean None where it is over few rows. A group that is not
            there is 0 of a count, None of a mean.
        rows: The counts themselves, or over how many rows each mean is.
        is_count: Whether the values are counts.
    """

    values: Mapping[Group, float | None]
    rows: Mapping[Group, float]
    is_count: bool

    @property
    def is_too_small(self) -> bool:
        """Whether nobody could answer it usefully."""
        return max(self.rows.values(), default=0.0) < AT_LEAST

    def of(self, cell: Cell) -> float | None:
        """Return what is true of a cell."""
        found = self.values.get(cell.group)
        return found or 0.0 if self.is_count else found


def truths(
    rows: duckdb.DuckDBPyConnection, questions: Sequence[Question]
) -> dict[int, Truth]:
    """Return what is true of each question, by its number."""
    return {question.number: _truth(rows, question) for question in questions}


def _truth(rows: duckdb.DuckDBPyConnection, question: Question) -> Truth:
    meaning = question.meaning
    values, is_count = _values(rows, question.sql), meaning.measure.is_count
    counted = values if is_count else _values(rows, _rows_of(meaning))
    numbers = {group: number or 0.0 for group, number in counted.items()}
    if not is_count:
        values = {
            group: value if numbers.get(group, 0.0) >= AT_LEAST else None
            for group, value in values.items()
        }
    return Truth(values, numbers, is_count)


def _rows_of(meaning: Meaning) -> str:
    counted = Meaning(meaning.table, STAYS, meaning.where, meaning.keys)
    return worded(counted, 0)


def _values(rows: duckdb.DuckDBPyConnection, sql: str) -> dict[Group, float | None]:
    found = rows.execute(sql).fetchall()
    return {
        tuple(row[:-1]): None if row[-1] is None else float(row[-1]) for row in found
    }


def tolerance(number: float | None, *, is_count: bool) -> float:
    """Return how far noise may move a number: infinitely where there is none."""
    if number is None:
        return inf
    return max(RELATIVE * abs(number), AT_LEAST if is_count else 0.0)


def is_useful(cells: Sequence[Cell], truth: Truth) -> bool:
    """Whether each cell of an answer keeps to its tolerance."""
    return all(
        cell.half_width <= tolerance(truth.of(cell), is_count=truth.is_count)
        for cell in cells
    )


def seems_useful(cells: Sequence[Cell], *, is_count: bool) -> bool:
    """Whether it is useful by what is seen, the ends of intervals nearer to 0.

    The noisy number itself would do where noise made it larger than it is.
    """
    return all(
        cell.value is not None
        and cell.half_width <= tolerance(_nearer_end(cell), is_count=is_count)
        for cell in cells
    )


def _nearer_end(cell: Cell) -> float:
    return max(0.0, abs(cell.value or 0.0) - cell.half_width)


def outside(cells: Sequence[Cell], truth: Truth) -> int:
    """Return how many true numbers lie beyond the half-widths that were told."""
    return sum(
        number is not None
        and cell.value is not None
        and abs(cell.value - number) > cell.half_width
        for cell in cells
        for number in [truth.of(cell)]
    )
