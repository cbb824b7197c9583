"""Answers to questions of one published cube: rows with intervals, for nothing."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Final

from privacy.schema import ColumnType
from query_lang.compiled import (
    AverageShown,
    Cell,
    KeyShown,
    NumberShown,
    OutputColumn,
    QueryWarning,
    Shown,
)
from query_lang.decimals import decimal_of
from query_lang.domains import cells
from query_lang.plan import SumMeasure
from query_lang.presentation import Value, chosen, written_value
from query_lang.refusals import refuse
from query_lang.shown_values import SHOWN_DIGITS, ShownValue
from query_lang.syntax import Query
from release.models.contract import CubeModel
from release.questions import rules
from release.questions.averages import average_interval
from release.questions.binding import bind_cube_question
from release.questions.confidence import widening
from release.questions.cube import PublishedCube
from release.questions.evaluation import PublicValues
from release.questions.measuring import Counted, Measured, Measurer, Weighed
from release.questions.question import CubeQuestion

WHOLE_KINDS: Final = frozenset({"cells", "sparse_cells"})
"""Models whose estimates are whole numbers, shown as such."""

Ends = tuple[str, str]


@dataclass(frozen=True, slots=True)
class ColumnIntervals:
    """One measure's intervals, a pair of texts a row; None where the value is NULL."""

    column: str
    rows: tuple[Ends | None, ...]


@dataclass(frozen=True, slots=True)
class CubeAnswer:
    """Rows, and how far each measure may be from what the custodian's data says."""

    columns: tuple[OutputColumn, ...]
    rows: tuple[tuple[Value, ...], ...]
    intervals: tuple[ColumnIntervals, ...]
    half_widths: Mapping[str, tuple[str, ...]]
    confidence: str
    derivation: str
    warnings: tuple[QueryWarning, ...]


class AskedCube:
    """A published cube, opened for questions; safe for many threads."""

    def __init__(self, cube: PublishedCube, model: CubeModel) -> None:
        self.cube = cube
        self._model = model
        self._values = PublicValues(cube)

    def close(self) -> None:
        """Give back what evaluating needs."""
        self._values.close()

    def ask(self, tree: Query, confidence: str = "0.95") -> CubeAnswer:
        """Answer a parsed text.

        Args:
            tree: A SELECT from the release's name.
            confidence: Of each interval by itself, between 0 and 1.

        Raises:
            QueryError: The text is refused, with rule, place and hint.
        """
        return self.answer(bind_cube_question(tree, self.cube), confidence)

    def answer(self, question: CubeQuestion, confidence: str = "0.95") -> CubeAnswer:
        """Answer a bound question.

        Raises:
            SqlNotAllowedError: The release cannot answer it.
        """
        measurer = Measurer(question, self.cube, self._values)
        measurer.check()
        measured = [measurer.measure(kind, self._model) for kind in question.measures]
        touches = measurer.counts_touches()
        is_whole = self._model.kind in WHOLE_KINDS
        factor = widening(float(confidence))
        shown = _Estimated(question, measured, self.cube, factor, is_whole)
        places = chosen(question.presentation, shown)
        columns = tuple(shown.described(c, touches=touches) for c in question.columns)
        written = [
            [written_value(column, shown.column(column.shown)[p]) for p in places]
            for column in columns
        ]
        measures = [column for column in columns if column.kind == "measure"]
        return CubeAnswer(
            columns=columns,
            rows=tuple(zip(*written, strict=True)),
            intervals=tuple(
                ColumnIntervals(c.name, tuple(shown.ends(c.shown, p) for p in places))
                for c in measures
            ),
            half_widths={
                c.name: tuple(shown.half_width(c.shown, p) for p in places)
                for c in measures
                if isinstance(c.shown, NumberShown)
            },
            confidence=confidence,
            derivation=derivation(self.cube),
            warnings=(*question.warnings, *_warnings(self.cube, touches=touches)),
        )


@dataclass(slots=True)
class _Estimated:
    """What the cells of a question show: estimates, and public keys."""

    question: CubeQuestion
    measured: Sequence[Measured]
    cube: PublishedCube
    widening: float
    is_whole: bool
    cells: Sequence[Cell] = field(init=False)
    _found: dict[Shown, list[ShownValue]] = field(default_factory=dict)
    _ends: dict[Shown, tuple[list[float], list[float]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.cells = cells(self.question.keys)

    def described(self, column: OutputColumn, *, touches: bool) -> OutputColumn:
        """Return a column with the type of its estimates and what it counts."""
        if not isinstance(column.shown, NumberShown):
            return column
        unit = None if column.unit is None else self.cube.counted
        if unit is not None and touches:
            unit = f"{unit}, once a cell"
        if self.is_whole:
            return replace(column, unit=unit)
        return replace(column, type=ColumnType.DECIMAL, scale=SHOWN_DIGITS, unit=unit)

    def column(self, shown: Shown) -> Sequence[ShownValue]:
        """Return one value a cell, in declared order."""
        if shown not in self._found:
            self._found[shown] = self._column(shown)
        return self._found[shown]

    def half_width(self, shown: NumberShown, cell: int) -> str:
        """Return a half-width as text, never rounded down."""
        return _above(self._width(shown, cell), self._digits(shown))

    def ends(self, shown: Shown, cell: int) -> Ends | None:
        """Return the ends of the interval of one cell."""
        if isinstance(shown, AverageShown):
            return self._average_ends(shown, cell)
        if not isinstance(shown, NumberShown):
            raise refuse(rules.RELEASE_COUNTS, self.question.position)
        value = Decimal(str(self.column(shown)[cell]))
        width = Decimal(self.half_width(shown, cell))
        return f"{value - width:f}", f"{value + width:f}"

    def _column(self, shown: Shown) -> list[ShownValue]:
        match shown:
            case KeyShown(index):
                return [cell[index] for cell in self.cells]
            case NumberShown():
                values, scale = self._number(shown).values, self._scale(shown)
                digits = self._digits(shown)
                return [_shown(value, scale, digits) for value in values.tolist()]
            case AverageShown():
                return self._averages(shown)
            case _:
                raise refuse(rules.RELEASE_COUNTS, self.question.position)

    def _number(self, shown: NumberShown) -> Counted:
        found = self.measured[shown.vector]
        return found.sums() if isinstance(found, Weighed) else found

    def _width(self, shown: NumberShown, cell: int) -> float:
        width = float(self._number(shown).half_widths[cell]) * self.widening
        return width / float(10 ** self._scale(shown))

    def _scale(self, shown: NumberShown) -> int:
        """Return the decimals of the grid that a number's steps lie on."""
        kind = self.question.measures[shown.vector]
        return kind.scale if isinstance(kind, SumMeasure) else 0

    def _digits(self, shown: NumberShown) -> int:
        return self._scale(shown) if self.is_whole else SHOWN_DIGITS

    def _averages(self, shown: AverageShown) -> list[ShownValue]:
        weighed = self._weighed(shown)
        sums, totals = weighed.sums().values, weighed.totals().values
        low, high = self._bounds(shown)
        scale = self._scale(NumberShown(shown.sum_vector))
        return [
            None
            if total < 1
            else _shown(min(max(one / total, low), high), scale, SHOWN_DIGITS)
            for one, total in zip(sums.tolist(), totals.tolist(), strict=True)
        ]

    def _average_ends(self, shown: AverageShown, cell: int) -> Ends | None:
        if self.column(shown)[cell] is None:
            return None
        if shown not in self._ends:
            found = average_interval(
                self._weighed(shown), self._bounds(shown), self.widening
            )
            self._ends[shown] = found[0].tolist(), found[1].tolist()
        low, high = (ends[cell] for ends in self._ends[shown])
        scale = self._scale(NumberShown(shown.sum_vector))
        return (
            f"{-Decimal(_above(-low / 10**scale, SHOWN_DIGITS)):f}",
            _above(high / 10**scale, SHOWN_DIGITS),
        )

    def _weighed(self, shown: AverageShown) -> Weighed:
        found = self.measured[shown.sum_vector]
        if not isinstance(found, Weighed):
            raise TypeError
        return found

    def _bounds(self, shown: AverageShown) -> tuple[float, float]:
        if shown.lower is None or shown.upper is None:
            raise TypeError
        return float(shown.lower), float(shown.upper)


def _shown(value: float, scale: int, digits: int) -> int | Decimal:
    """Return a number of steps in its column's unit, rounded to its digits."""
    if digits == 0:
        return round(value)
    return decimal_of(round(value * 10 ** (digits - scale)), digits)


def _above(value: float, digits: int) -> str:
    """Write a number so that it is not smaller."""
    return f"{decimal_of(math.ceil(round(value * 10**digits, 6)), digits):f}"


def derivation(cube: PublishedCube) -> str:
    """Say what an answer is made of."""
    domain = cube.domain
    over = ", ".join(dimension.name for dimension in domain.dimensions)
    each = (
        f"each {cube.unit} once in every cell that it touches"
        if cube.counts == "units"
        else "rows"
    )
    return (
        f"read from the release {cube.id} ({cube.strategy}, epsilon {cube.epsilon}, "
        f"paid when it was published) and public facts alone: it costs nothing. The "
        f"cube has {domain.size:,} cells over {over} and counts {each}; one "
        f"{cube.unit} adds at most {domain.bound} to it. Intervals are of the "
        "release's noise and, where it measured cells together, of the spread inside."
    )


def _warnings(cube: PublishedCube, *, touches: bool) -> list[QueryWarning]:
    if not touches:
        return []
    varying = [d.name for d in cube.domain.dimensions if not d.constant]
    detail = (
        f"a {cube.unit} counts once in every cell that it touches, so sums over "
        f"{', '.join(varying)} can count one {cube.unit} more than once"
    )
    return [QueryWarning("counts_touches", detail)]
