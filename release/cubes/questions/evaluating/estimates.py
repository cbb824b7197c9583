"""What the cells of an answer show: estimates, their half-widths and intervals."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from privacy.schema import ColumnType
from query_lang.plans.compiled import (
    AverageShown,
    DependentShown,
    KeyShown,
    NumberShown,
    OutputColumn,
    Shown,
)
from query_lang.plans.domains import cells
from query_lang.plans.nodes import MeasureKind, SumMeasure
from query_lang.plans.rendered import Cell
from query_lang.showing.cells import ShownValue
from query_lang.showing.decimals import decimal_of
from query_lang.showing.values import SHOWN_DIGITS
from query_lang.syntax.refusals import refuse
from release.contract.answers import Ends
from release.contract.confidence import widened
from release.cubes.questions.binding import rules
from release.cubes.questions.binding.cube import PublishedCube
from release.cubes.questions.binding.question import CubeQuestion
from release.cubes.questions.evaluating.averages import average_interval
from release.cubes.questions.evaluating.measuring import Counted, Measured, Weighed


@dataclass(slots=True)
class Estimated:
    """Estimates laid over the cells of a question, beside public keys.

    Attributes:
        question: What was asked.
        measure: Estimates a measure; of an average the sum alone is asked for.
        cube: Public facts of the release.
        is_whole: Whether the release's estimates are whole numbers.
        widening: Of 95 % half-widths, to the confidence that the rows shown need.
        cells: Public cells, in declared order.
    """

    question: CubeQuestion
    measure: Callable[[MeasureKind], Measured]
    cube: PublishedCube
    is_whole: bool
    widening: float = 1.0
    cells: Sequence[Cell] = field(init=False)
    _found: dict[Shown, list[ShownValue]] = field(default_factory=dict)
    _measured: dict[int, Measured] = field(default_factory=dict)
    _numbers: dict[int, Counted] = field(default_factory=dict)

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

    def half_widths(self, shown: NumberShown, places: Sequence[int]) -> list[str]:
        """Return half-widths of some cells as texts, never rounded down."""
        steps, digits = self._width_steps(shown), self._digits(shown)
        return [_written(steps[place], digits) for place in places]

    def ends(self, shown: Shown) -> list[Ends | None]:
        """Return the ends of the interval of each cell; None where it shows NULL."""
        match shown:
            case AverageShown():
                return self._average_ends(shown)
            case NumberShown():
                digits = self._digits(shown)
                return [
                    (_written(low, digits), _written(high, digits))
                    for low, high in self._end_steps(shown)
                ]
            case _:
                raise refuse(rules.RELEASE_COUNTS, self.question.position)

    def _column(self, shown: Shown) -> list[ShownValue]:
        match shown:
            case KeyShown(index):
                return [cell[index] for cell in self.cells]
            case DependentShown(index, pairs):
                follows = dict(pairs)
                return [follows.get(cell[index]) for cell in self.cells]
            case NumberShown():
                steps, digits = self._value_steps(shown), self._digits(shown)
                return [decimal_of(s, digits) if digits else s for s in steps]
            case AverageShown():
                return self._averages(shown)
            case _:
                raise refuse(rules.RELEASE_COUNTS, self.question.position)

    def _vector(self, vector: int) -> Measured:
        if vector not in self._measured:
            kind = self.question.measures[vector]
            self._measured[vector] = self.measure(kind)
        return self._measured[vector]

    # -- counts and sums --------------------------------------------------------

    def _number(self, vector: int) -> Counted:
        if vector not in self._numbers:
            found = self._vector(vector)
            whole = found.sums() if isinstance(found, Weighed) else found
            self._numbers[vector] = whole
        return self._numbers[vector]

    def _value_steps(self, shown: NumberShown) -> list[int]:
        """Return values in steps of the last digit that is shown."""
        factor = self._steps_shown(shown)
        return [round(v * factor) for v in self._number(shown.vector).values.tolist()]

    def _width_steps(self, shown: NumberShown) -> list[int]:
        """Return how far the farther end is from each value, as measured."""
        pairs = zip(*self._reach_steps(shown), strict=True)
        return [max(below, above) for below, above in pairs]

    def _reach_steps(self, shown: NumberShown) -> tuple[list[int], list[int]]:
        """Return how far intervals reach below and above, in steps.

        Rounded up; or, where estimates are whole as truths are, down to what an error
        can be.
        """
        factor, found = self._steps_shown(shown), self._number(shown.vector)
        grain = self._grain_steps(shown) if self.is_whole else 0
        step = grain / factor if grain else 1.0
        more = widened(found.noise, self.widening, step) - found.noise
        below, above = (
            [_steps(reach * factor, grain) for reach in np.maximum(side + more, 0.0)]
            for side in (found.below, found.above)
        )
        return below, above

    def _end_steps(self, shown: NumberShown) -> list[tuple[int, int]]:
        """Return the ends of intervals in steps, of what is never negative from 0 on.

        Where noise made a count negative, the truth is taken to lie from 0 up: as far
        as if 0 had been drawn.
        """
        columns = (self._value_steps(shown), *self._reach_steps(shown))
        grain, floor = self._grain_steps(shown), self._is_never_negative(shown)
        ends: list[tuple[int, int]] = []
        for value, below, above in zip(*columns, strict=True):
            low = max(value - below, 0) if floor else value - below
            high = (max(value, 0) if floor else value) + above
            ends.append(_possible(low, min(max(value, low), high), high, grain))
        return ends

    def _grain_steps(self, shown: NumberShown) -> int:
        """Return of what truths are whole multiples, in steps that are shown."""
        return self._number(shown.vector).grain * round(self._steps_shown(shown))

    def _is_never_negative(self, shown: NumberShown) -> bool:
        """Whether it is a count, or a sum of numbers that are none of them negative."""
        found = self._vector(shown.vector)
        return not isinstance(found, Weighed) or not (found.numbers < 0).any()

    def _steps_shown(self, shown: NumberShown) -> float:
        return float(10 ** (self._digits(shown) - self._scale(shown)))

    def _scale(self, shown: NumberShown) -> int:
        """Return the decimals of the grid that a number's steps lie on."""
        kind = self.question.measures[shown.vector]
        return kind.scale if isinstance(kind, SumMeasure) else 0

    def _digits(self, shown: NumberShown) -> int:
        scale = self._scale(shown)
        return scale if self.is_whole else max(scale, SHOWN_DIGITS)

    # -- averages -----------------------------------------------------------------

    def _averages(self, shown: AverageShown) -> list[ShownValue]:
        weighed = self._weighed(shown)
        sums, totals = weighed.sums().values, weighed.totals().values
        low, high = _bounds(shown)
        factor = self._average_steps(shown)
        return [
            None
            if total < 1
            else decimal_of(
                round(min(max(one / total, low), high) * factor), SHOWN_DIGITS
            )
            for one, total in zip(sums.tolist(), totals.tolist(), strict=True)
        ]

    def _average_ends(self, shown: AverageShown) -> list[Ends | None]:
        weighed, factor = self._weighed(shown), self._average_steps(shown)
        lower, upper = average_interval(weighed, _bounds(shown), self.widening)
        return [
            None
            if value is None
            else (
                _written(-_ceil(-low * factor), SHOWN_DIGITS),
                _written(_ceil(high * factor), SHOWN_DIGITS),
            )
            for value, low, high in zip(
                self.column(shown), lower.tolist(), upper.tolist(), strict=True
            )
        ]

    def _average_steps(self, shown: AverageShown) -> float:
        return float(10 ** (SHOWN_DIGITS - self._scale(NumberShown(shown.sum_vector))))

    def _weighed(self, shown: AverageShown) -> Weighed:
        found = self._vector(shown.sum_vector)
        if not isinstance(found, Weighed):
            raise TypeError
        return found


def _bounds(shown: AverageShown) -> tuple[float, float]:
    return float(shown.lower), float(shown.upper)


def _ceil(steps: float) -> int:
    """Round up, but for what floating point adds below a millionth of a step."""
    return math.ceil(round(steps, 6))


def _steps(reach: float, grain: int) -> int:
    """Round up; or down to whole grains, if there are any."""
    return math.floor(round(reach, 6) / grain) * grain if grain else _ceil(reach)


def _possible(low: int, held: int, high: int, grain: int) -> tuple[int, int]:
    """Return ends that leave out what no truth can be, but hold the estimate."""
    least, most = -(-low // grain) * grain, high // grain * grain
    return min(least, held), max(most, held)


def _written(steps: int, digits: int) -> str:
    return f"{decimal_of(steps, digits):f}" if digits else str(steps)
