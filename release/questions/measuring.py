"""The aggregates of a question: estimates with their half-widths, from rolls alone."""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from query_lang.plan import (
    CountRowsMeasure,
    CountUnitsMeasure,
    CountValuesMeasure,
    MeasureKind,
    SumMeasure,
)
from query_lang.refusals import refuse
from release.models.contract import CubeModel, FloatArray
from release.questions import rules
from release.questions.cube import PublishedCube
from release.questions.evaluation import PublicValues
from release.questions.grouping import (
    Layout,
    Selection,
    check_mask,
    check_wide,
    grouping_of,
    lay_out,
    select,
)
from release.questions.question import CubeQuestion

INDEPENDENT_KINDS: Final = frozenset({"cells"})
"""Models whose errors are independent between disjoint sets of cells; of others the
half-widths of sums are added up."""

MAX_SUMMANDS: Final = 1_000_000
_WEIGHTED: Final = 2.12
"""95 % quantile of any weighted sum of independent draws, in standard deviations."""


@dataclass(frozen=True, slots=True)
class Counted:
    """A count a cell, with 95 % half-widths."""

    values: FloatArray
    half_widths: FloatArray


@dataclass(frozen=True, slots=True)
class Weighed:
    """Estimated counts by cell and value of a number, for its sum and average.

    Attributes:
        numbers: The values, in steps of the number's grid.
        counts: (cells, values).
        variances: Of the counts.
        half_widths: Of the counts, 95 %.
        independent: Whether their errors are.
    """

    numbers: FloatArray
    counts: FloatArray
    variances: FloatArray
    half_widths: FloatArray
    independent: bool

    def sums(self) -> Counted:
        """Return the sum of the numbers in each cell, in steps."""
        return Counted(self.counts @ self.numbers, self.error_of(self.numbers))

    def totals(self) -> Counted:
        """Return how many numbers each cell has."""
        ones = np.ones_like(self.numbers)
        return Counted(self.counts @ ones, self.error_of(ones))

    def error_of(self, weights: FloatArray) -> FloatArray:
        """Return the 95 % half-width of a weighted sum of the counts.

        Args:
            weights: One a value, or (cells, values), perhaps with more axes before.
        """
        loads = np.abs(weights)
        apart = np.asarray((loads * self.half_widths).sum(axis=-1))
        if not self.independent:
            return apart  # whatever the errors have to do with each other
        spread = np.sqrt((loads**2 * self.variances).sum(axis=-1))
        alone = np.count_nonzero(loads, axis=-1) <= 1
        return np.asarray(np.where(alone, apart, np.minimum(apart, _WEIGHTED * spread)))


Measured = Counted | Weighed
_ANSWERED = (CountRowsMeasure, CountValuesMeasure)


class Measurer:
    """Answers the aggregates of one question."""

    def __init__(
        self, question: CubeQuestion, cube: PublishedCube, values: PublicValues
    ) -> None:
        self._question = question
        self._cube = cube
        self._values = values
        domain = cube.domain
        self._domain = domain
        keys = tuple(grouping_of(key, question, values) for key in question.keys)
        check_wide(keys, question, domain.shape)
        selection = select(question, values, domain.shape)
        self.layout = Layout(domain.shape, selection, keys)

    def counts_touches(self) -> bool:
        """Whether a sum of cells here can count one unit more than once."""
        dimensions = self._domain.dimensions
        varying = [axis for axis, d in enumerate(dimensions) if not d.constant]
        return (
            self._cube.counts == "units"
            and self._domain.bound > 1
            and self.layout.several_in_a_cell(varying)
        )

    def check(self) -> None:
        """Refuse what the release cannot answer; no number of it is read.

        Raises:
            SqlNotAllowedError: An aggregate is none that it has, or adds up too many
                numbers.
        """
        for kind in self._question.measures:
            if isinstance(kind, CountUnitsMeasure):
                self._require_units()
            elif isinstance(kind, SumMeasure):
                self._require_few(kind.slot)
            elif not isinstance(kind, _ANSWERED):
                raise refuse(rules.RELEASE_COUNTS, self._question.position)

    def measure(self, kind: MeasureKind, model: CubeModel) -> Measured:
        """Return what an aggregate is estimated to be; ``check`` let it through."""
        match kind:
            case CountValuesMeasure(slot):
                return _counted(self._where_present(slot), model)
            case SumMeasure(slot):
                return self._weighed(slot, model)
            case _:
                return _counted(self.layout, model)

    def _require_units(self) -> None:
        if self._cube.counts == "rows" and self._domain.bound > 1:
            raise refuse(rules.ROWS_COUNTED, self._question.position)
        if self.counts_touches():
            raise refuse(rules.DISTINCT_UNITS, self._question.position)

    def _where_present(self, slot: int) -> Layout:
        """Return the layout of the rows whose value is not NULL."""
        expression = self._question.expression(slot)
        axes, found = self._values.values(expression, self._question)
        sizes = tuple(self._domain.shape[axis] for axis in axes)
        present = np.array([value is not None for value in found]).reshape(sizes)
        selection = self.layout.selection
        if len(axes) == 1:
            kept = list(selection.kept)
            kept[axes[0]] = kept[axes[0]] & present
            narrowed = Selection(tuple(kept), selection.masks)
        else:
            check_mask(self._question, self._domain.shape)
            masks = (*selection.masks, (axes, present))
            narrowed = Selection(selection.kept, masks)
        return replace(self.layout, selection=narrowed)

    def _numbers(self, slot: int) -> tuple[list[int], Layout]:
        """Return the numbers that a slot holds, and the layout by each of them."""
        expression = self._question.expression(slot)
        _, found = self._values.values(expression, self._question)
        numbers = sorted({value for value in found if isinstance(value, int)})
        last = lay_out(expression, numbers, self._question, self._values)
        return numbers, replace(self.layout, keys=(*self.layout.keys, last))

    def _require_few(self, slot: int) -> None:
        _, layout = self._numbers(slot)
        check_wide(layout.keys, self._question, self._domain.shape)
        if layout.size > MAX_SUMMANDS:
            raise refuse(rules.MANY_VALUES, self._question.position)

    def _weighed(self, slot: int, model: CubeModel) -> Weighed:
        numbers, layout = self._numbers(slot)
        rolled = layout.answer(model)
        table = (self.layout.size, len(numbers))
        return Weighed(
            numbers=np.array(numbers, dtype=np.float64),
            counts=rolled.values.reshape(table),
            variances=rolled.variances.reshape(table),
            half_widths=rolled.half_widths.reshape(table),
            independent=model.kind in INDEPENDENT_KINDS,
        )


def _counted(layout: Layout, model: CubeModel) -> Counted:
    found = layout.answer(model)
    return Counted(found.values, found.half_widths)
