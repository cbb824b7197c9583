"""What the tables of a part count, as rows over the cells of its base table."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from query_lang.deriving.derivations import Combination, Deriver, Vector, cells_of
from query_lang.deriving.grids import Grid, grids_of
from server.use_cases.questions.questions import Question
from server.use_cases.questions.studies.least_squares import FloatArray, Layout
from server.use_cases.questions.studies.steps import Steps, of_products

MOST_BASE_CELLS: Final = 1_024
"""Cells of a base table."""
MOST_COARSE_CELLS: Final = 64
"""Cells of all coarser tables of a part."""
MOST_NUMBERS: Final = 2_048
"""That are made of one base table for each of its measures."""

MOST_LOOKED_FOR: Final = 4_000
"""Steps of looking for cells in base tables for one study."""
MOST_KEY_VALUES: Final = 4_096
"""Values of all keys of a study's questions together: each is read as a part."""
_A_KEY_VALUE: Final = 2
"""Steps of reading one."""


@dataclass(frozen=True, slots=True)
class Gridded:
    """A question with what each of its measures counts; None: nothing that adds up."""

    question: Question
    grids: tuple[Grid | None, ...]

    @classmethod
    def of(cls, question: Question) -> "Gridded":
        """Read off what a question counts."""
        return cls(question, tuple(grids_of(question.bound.plan)))

    @property
    def counted(self) -> tuple[Grid, ...]:
        """Return its grids, where it has one for each measure; else nothing."""
        known = tuple(grid for grid in self.grids if grid is not None)
        return known if len(known) == len(self.grids) else ()

    @property
    def whats(self) -> frozenset[tuple[str, str]]:
        """Return the rows and the number of each measure, as words."""
        return frozenset((grid.rows, grid.what) for grid in self.counted)

    def measure_of(self, what: str) -> int | None:
        """Return which measure counts something."""
        places = [n for n, grid in enumerate(self.counted) if grid.what == what]
        return places[0] if places else None


class Gridding:
    """Reads off what the questions of one study count, as long as keys are short.

    A question whose keys have too many values for what is left adds nothing up: it is
    asked as it stands.

    Args:
        steps: Counts what it takes.
    """

    def __init__(self, steps: Steps) -> None:
        self._steps = steps
        self._left = MOST_KEY_VALUES

    def of(self, question: Question) -> Gridded:
        """Read off what a question counts."""
        plan = question.bound.plan
        values = sum(len(key.values) for key in plan.keys)
        if values > self._left:
            return Gridded(question, (None,) * len(plan.measures))
        self._left -= values
        self._steps.take(_A_KEY_VALUE * values)
        return Gridded.of(question)


@dataclass(frozen=True, slots=True)
class MeasureLayout:
    """One measure of a base table, with the coarser tables that have it too.

    Attributes:
        measure: Of the base table.
        coarse: The coarser tables that are in it, each with its measure.
        wanted: The questions whose numbers are made of it, each with its measure.
        layout: Of all these, in this order.
    """

    measure: int
    coarse: tuple[tuple[int, int], ...]
    wanted: tuple[tuple[int, int], ...]
    layout: Layout


class KnownRows:
    """Finds of which cells of a base table a vector is made, each pair once.

    Args:
        steps: Counts what it takes.
        most: Steps that may be taken; pairs beyond are not looked at.
    """

    def __init__(self, steps: Steps, most: float = MOST_LOOKED_FOR) -> None:
        self._steps = steps
        self._left = most
        self._found: dict[tuple[int, int], tuple[Grid, Grid, FloatArray | None]] = {}

    def of(self, wanted: Grid, base: Grid) -> FloatArray | None:
        """Return a row for each wanted cell: what it takes of each base cell."""
        key = id(wanted), id(base)
        if key in self._found:
            return self._found[key][2]
        cells = wanted.size * (1 + len(wanted.axes) + len(base.axes))
        steps = cells + of_products(4 * wanted.size * base.size)
        if steps > self._left:
            return None
        self._left -= steps
        self._steps.take(steps)
        rows = _rows(wanted, base)
        self._found[key] = wanted, base, rows  # held, so that ids stay theirs
        return rows


def layouts_of(
    base: Gridded,
    coarse: Sequence[Gridded],
    wanted: Sequence[Gridded],
    rows: KnownRows,
) -> list[MeasureLayout] | None:
    """Return how everything follows from a base table, a layout for each measure.

    Measures that no question has are left out. None where something does not follow, or
    takes too much.
    """
    found = []
    for measure, grid in enumerate(base.counted):
        if not any(True for _ in _having(grid, wanted)):
            continue
        layout = _layout((measure, grid), coarse, wanted, rows)
        if layout is None:
            return None
        found.append(layout)
    made = {(q, m) for layout in found for q, m in layout.wanted}
    asked = {(n, m) for n, each in enumerate(wanted) for m in range(len(each.grids))}
    return found if found and made == asked else None


def _layout(
    own: tuple[int, Grid],
    coarse: Sequence[Gridded],
    wanted: Sequence[Gridded],
    known: KnownRows,
) -> MeasureLayout | None:
    measure, grid = own
    if grid.size > MOST_BASE_CELLS:
        return None
    coarser = tuple(_having(grid, coarse))
    asked = tuple(_having(grid, wanted))
    rows = [known.of(coarse[n].counted[m], grid) for n, m in coarser]
    numbers = [known.of(wanted[n].counted[m], grid) for n, m in asked]
    held = [each for each in rows if each is not None]
    made = [each for each in numbers if each is not None]
    if len(held) < len(rows) or len(made) < len(numbers) or not made:
        return None
    if sum(map(len, made)) > MOST_NUMBERS or sum(map(len, held)) > MOST_COARSE_CELLS:
        return None
    layout = Layout(
        np.concatenate([np.zeros((0, grid.size)), *held]),
        tuple(n for n, each in enumerate(held) for _ in each),
        tuple(made),
    )
    return MeasureLayout(measure, coarser, asked, layout)


def _having(grid: Grid, tables: Sequence[Gridded]) -> Iterator[tuple[int, int]]:
    for n, table in enumerate(tables):
        measure = table.measure_of(grid.what)
        if measure is not None:
            yield n, measure


def _rows(wanted: Grid, base: Grid) -> FloatArray | None:
    """Return what each wanted cell takes of each cell of a base table."""
    found = Deriver(wanted, [Vector(base, 1.0)]).all_cells()
    if found is None or any(_is_broken(cell) for cell in found):
        return None
    rows = np.zeros((len(found), base.size))
    for row, cell in zip(rows, found, strict=True):
        for taken in cell:
            row[cells_of(taken, base)] += float(taken.weight)
    return rows


def _is_broken(cell: Combination) -> bool:
    """Whether a cell takes parts of cells: of one table it takes whole ones."""
    return any(taken.weight.denominator != 1 for taken in cell)
