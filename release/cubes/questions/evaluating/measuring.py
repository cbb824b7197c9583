"""The aggregates of a question: estimates with their half-widths, from rolls alone."""

from dataclasses import dataclass, replace
from math import gcd, prod
from typing import Final

import numpy as np

from query_lang.plans.compiled import AverageShown
from query_lang.plans.expressions import conjuncts
from query_lang.plans.nodes import (
    CountRowsMeasure,
    CountUnitsMeasure,
    CountValuesMeasure,
    Key,
    MeasureKind,
    SumMeasure,
)
from query_lang.syntax.refusals import refuse
from release.contract.intervals import (
    NORMAL_QUANTILE,
    TAIL_SURPLUS,
    WEIGHTED_QUANTILE,
    weighted_half_widths,
)
from release.contract.models import Estimates, FloatArray, Weighing
from release.contract.sealed_cube import MAX_DENSE_CELLS
from release.cubes.questions.binding import rules
from release.cubes.questions.binding.cube import PublishedCube
from release.cubes.questions.binding.question import CubeQuestion
from release.cubes.questions.evaluating.effort import MAX_WORK, Effort
from release.cubes.questions.evaluating.evaluation import PublicValues, Values
from release.cubes.questions.evaluating.grouping import (
    Layout,
    Selection,
    Width,
    check_mask,
    check_wide,
    grouping_of,
    lay_out,
    select,
)
from release.cubes.questions.evaluating.steps import (
    ADDED_STEPS,
    PASSED_STEPS,
    QUESTION_STEPS,
    SHOWN_STEPS,
    TRIED_STEPS,
    passes,
)
from release.cubes.questions.evaluating.warm import WarmModel

INDEPENDENT_KINDS: Final = frozenset({"cells"})
"""Models whose errors are independent between disjoint sets of cells; of others the
half-widths of sums are added up."""

MAX_SUMMANDS: Final = 1_000_000
"""Numbers that all sums and averages of a question add up together."""

MAX_SHOWN: Final = 200_000
"""Values that one answer shows."""

_LEAST: Final = 1e-300

MAX_WEIGHED: Final = 500_000
"""Pairs of a part and a sum up to which errors are added up as they go together."""


@dataclass(frozen=True, slots=True)
class Counted:
    """A number a cell, and how far its 95 % interval reaches.

    Attributes:
        values: Estimates.
        below: How far each interval reaches below its value.
        above: How far it reaches above.
        noise: How much of that is noise, which grows with the confidence.
        grain: Of what truths are whole multiples, in steps.
    """

    values: FloatArray
    below: FloatArray
    above: FloatArray
    noise: FloatArray
    grain: int = 1


@dataclass(frozen=True, slots=True)
class Weighed:
    """Estimated counts by cell and value of a number, for its sum and average.

    Attributes:
        numbers: The values, in steps of the number's grid.
        counts: (cells, values).
        variances: Of the counts.
        half_widths: Of the counts, 95 %.
        independent: Whether their errors are.
        weighing: How their errors go together, where the model knows it.
    """

    numbers: FloatArray
    counts: FloatArray
    variances: FloatArray
    half_widths: FloatArray
    independent: bool
    weighing: Weighing | None = None

    def sums(self) -> Counted:
        """Return the sum of the numbers in each cell, in steps."""
        if self.weighing is not None:
            found = self.bounded(np.zeros(len(self.counts)), self.weighing)
            reach = found.below, found.above, found.noise
            return Counted(found.values, *reach, grain=self._grain())
        error = self.error_of(self.numbers)
        reach = error, error, error
        return Counted(self.counts @ self.numbers, *reach, grain=self._grain())

    def _grain(self) -> int:
        """Return the greatest number that all numbers are multiples of."""
        return gcd(*(int(number) for number in self.numbers)) or 1

    def bounded(self, shifts: FloatArray, weighing: Weighing) -> Estimates:
        """Return the sums of number minus a shift, a shift a cell, with their ends."""
        weights = self.numbers - shifts[:, None]
        return weighing.bounds(weights.ravel(), (self.counts * weights).sum(axis=1))

    def totals(self) -> Counted:
        """Return how many numbers each cell has."""
        ones = np.ones_like(self.numbers)
        error = self.error_of(ones)
        return Counted(self.counts @ ones, error, error, error)

    def error_of(self, weights: FloatArray) -> FloatArray:
        """Return the 95 % half-width of a weighted sum of the counts.

        Args:
            weights: One a value, or (cells, values), perhaps with more axes before.
        """
        loads = np.abs(weights)
        apart = np.asarray((loads * self.half_widths).sum(axis=-1))
        if not self.independent:
            return apart  # whatever the errors have to do with each other
        own = loads**2 * self.variances
        variances = own.sum(axis=-1)
        largest = own.max(axis=-1, initial=0.0) / np.maximum(variances, _LEAST)
        quantile = NORMAL_QUANTILE + TAIL_SURPLUS * largest
        quantile = np.minimum(quantile, WEIGHTED_QUANTILE)
        heaviest = (loads * (self.variances > 0)).max(axis=-1, initial=0.0)
        alone = np.count_nonzero(own, axis=-1) <= 1
        joint = weighted_half_widths(variances, heaviest, quantile)
        return np.asarray(np.where(alone, apart, joint))


Measured = Counted | Weighed


class Measurer:
    """Answers the aggregates of one question."""

    def __init__(
        self,
        question: CubeQuestion,
        cube: PublishedCube,
        values: PublicValues,
        effort: Effort,
    ) -> None:
        """Lay the question over the cube.

        Raises:
            SqlNotAllowedError: It ranges over too much, which is refused before
                anything is evaluated on it, or takes too many steps.
        """
        self._question = question
        self._cube = cube
        self._values = values
        self._effort = effort
        self._domain = cube.domain
        self._present: dict[int, Layout] = {}
        self._weights: dict[int, tuple[list[int], Layout]] = {}
        self._further = 0
        shape = self._domain.shape
        check_wide([self._width(key) for key in question.keys], question, shape)
        self._check_work()
        keys = [grouping_of(key, question, values, effort) for key in question.keys]
        selection = select(question, values, shape, effort)
        self.layout = Layout(shape, selection, tuple(keys))

    def _check_work(self) -> None:
        """Refuse what passes over too many cells, by what it reads alone."""
        question = self._question
        wide = [len(key.values) for key in question.keys if self._is_wide(key.slot)]
        masked = wide or any(
            len(self._values.axes_of((condition,), question)) > 1
            for top in question.conditions
            for condition in conjuncts(top)
        )
        slots = [
            kind.slot
            for kind in question.measures
            if isinstance(kind, CountValuesMeasure | SumMeasure)
        ]
        aside = len(question.measures) if masked else sum(map(self._is_wide, slots))
        work = aside * prod(wide) * min(self._domain.size, MAX_DENSE_CELLS)
        if work > MAX_WORK:
            raise refuse(rules.MUCH_WORK, question.position)

    def _is_wide(self, slot: int) -> bool:
        return len(self._axes(slot)) > 1

    def counts_touches(self) -> bool:
        """Whether a sum of cells here can count one unit more than once."""
        dimensions = self._domain.dimensions
        varying = [axis for axis, d in enumerate(dimensions) if not d.constant]
        return (
            self._cube.counts == "units"
            and self._domain.bound > 1
            and self.layout.several_in_a_cell(varying)
        )

    def check(self, model: WarmModel | None = None) -> None:
        """Refuse what the release cannot answer; no number of it is read.

        Args:
            model: The release, if it is open: how many parts it has counts too.

        Raises:
            SqlNotAllowedError: An aggregate is none that it has, or all of them take
                too much together.
        """
        layouts = self._layouts()
        shown = self.layout.size * len(self._question.columns)
        if sum(one.work for one in layouts) > MAX_WORK or shown > MAX_SHOWN:
            raise refuse(rules.MUCH_WORK, self._question.position)
        self._further = self.further_steps(model)
        self._effort.check_further(self._further)

    def further_steps(self, model: WarmModel | None = None) -> int:
        """Return what answering takes after what is spent, from public facts alone.

        What weighted sums take of a model that bounds them is counted once it is known
        how many parts they meet.
        """
        columns = self._question.columns
        tried = self._has_averages() and not (model and model.weighs)
        each = TRIED_STEPS if tried else ADDED_STEPS
        layouts = self._layouts()
        own = 0 if model is None else self._model_steps(model)
        return (
            QUESTION_STEPS
            + own
            + sum(layout.steps for layout in layouts)
            + each * self._summands()
            + SHOWN_STEPS * self.layout.size * len(columns)
        )

    def _model_steps(self, model: WarmModel) -> int:
        """Return what rolls take of the model's own parts, again where sums weigh."""
        kinds = self._question.measures
        times = [2 if model.weighs and isinstance(k, SumMeasure) else 1 for k in kinds]
        return sum(
            each * layout.model_steps(model)
            for each, layout in zip(times, self._layouts(), strict=True)
        )

    def _has_averages(self) -> bool:
        columns = self._question.columns
        return any(isinstance(each.shown, AverageShown) for each in columns)

    def _layouts(self) -> list[Layout]:
        """Return the layouts of all aggregates; refuse sums of too many numbers."""
        layouts = [self._checked(kind) for kind in self._question.measures]
        if self._summands() > MAX_SUMMANDS:
            raise refuse(rules.MANY_VALUES, self._question.position)
        return layouts

    def _summands(self) -> int:
        kinds = self._question.measures
        slots = [kind.slot for kind in kinds if isinstance(kind, SumMeasure)]
        return sum(self._numbers(slot)[1].size for slot in slots)

    def _checked(self, kind: MeasureKind) -> Layout:
        """Return the layout of an aggregate that the release has."""
        match kind:
            case CountUnitsMeasure(slot, nullable):
                self._require_units()
                return self._where_present(slot) if nullable else self.layout
            case SumMeasure(slot):
                return self._numbers(slot)[1]
            case CountValuesMeasure(slot):
                return self._where_present(slot)
            case CountRowsMeasure():
                return self.layout
            case _:
                raise refuse(rules.RELEASE_COUNTS, self._question.position)

    def measure(self, kind: MeasureKind, model: WarmModel) -> Measured:
        """Return what an aggregate is estimated to be; ``check`` let it through."""
        match kind:
            case CountValuesMeasure(slot) | CountUnitsMeasure(slot, nullable=True):
                return self._counted(self._where_present(slot), model)
            case SumMeasure(slot):
                return self._weighed(slot, model)
            case _:
                return self._counted(self.layout, model)

    def _require_units(self) -> None:
        if self._cube.counts == "rows" and self._domain.bound > 1:
            raise refuse(rules.ROWS_COUNTED, self._question.position)
        if self.counts_touches():
            raise refuse(rules.DISTINCT_UNITS, self._question.position)

    def _where_present(self, slot: int) -> Layout:
        """Return the layout of the rows whose value is not NULL; evaluated once."""
        if slot not in self._present:
            self._present[slot] = self._narrowed(slot)
        return self._present[slot]

    def _narrowed(self, slot: int) -> Layout:
        axes = self._axes(slot)
        found = self._found(slot, axes)
        sizes = tuple(self._domain.shape[axis] for axis in axes)
        present = np.array([value is not None for value in found]).reshape(sizes)
        selection = self.layout.selection
        if len(axes) == 1:
            kept = list(selection.kept)
            kept[axes[0]] = kept[axes[0]] & present
            narrowed = Selection(tuple(kept), selection.masks)
        else:
            narrowed = Selection(selection.kept, (*selection.masks, (axes, present)))
        return replace(self.layout, selection=narrowed)

    def _numbers(self, slot: int) -> tuple[list[int], Layout]:
        """Return the numbers that a slot holds, and the layout by each of them."""
        if slot not in self._weights:
            axes = self._axes(slot)
            found = self._found(slot, axes)
            numbers = sorted({value for value in found if isinstance(value, int)})
            keys = (*self.layout.keys, lay_out(axes, found, numbers))
            widths = [(key.axes, key.size) for key in keys]
            check_wide(widths, self._question, self._domain.shape)
            self._weights[slot] = numbers, replace(self.layout, keys=keys)
        return self._weights[slot]

    def _axes(self, slot: int) -> tuple[int, ...]:
        expression = self._question.expression(slot)
        return self._values.axes_of((expression,), self._question)

    def _width(self, key: Key) -> Width:
        return self._axes(key.slot), len(key.values)

    def _found(self, slot: int, axes: tuple[int, ...]) -> Values:
        """Return a slot's values; refuse what needs a mask before evaluating it."""
        if len(axes) != 1:
            check_mask(self._question, self._domain.shape)
        expression = self._question.expression(slot)
        return self._values.values(expression, self._question, self._effort)

    def _weighed(self, slot: int, model: WarmModel) -> Weighed:
        numbers, layout = self._numbers(slot)
        rolled = layout.answer(model)
        table = (self.layout.size, len(numbers))
        weighing = _small(layout.weighing(model, max(1, len(numbers))))
        if model.weighs:
            self._count(weighing, layout.size)
        return Weighed(
            numbers=np.array(numbers, dtype=np.float64),
            counts=rolled.values.reshape(table),
            variances=rolled.variances.reshape(table),
            half_widths=rolled.half_widths.reshape(table),
            independent=model.kind in INDEPENDENT_KINDS,
            weighing=weighing,
        )

    def _count(self, weighing: Weighing | None, numbers: int) -> None:
        """Count what the ends of sums take, before they are worked out.

        Raises:
            SqlNotAllowedError: Rule ``too_long``; so many steps are not left.
        """
        averages = self._has_averages()
        if weighing is None:
            self._further += TRIED_STEPS * numbers if averages else 0
        else:
            times = 1 + (passes(weighing.entries) if averages else 0)
            self._further += PASSED_STEPS * weighing.entries * times
        self._effort.check_further(self._further)

    def _counted(self, layout: Layout, model: WarmModel) -> Counted:
        found = layout.answer(model)
        return Counted(found.values, found.below, found.above, found.noise)


def _small(weighing: Weighing | None) -> Weighing | None:
    """Return it if it can be used in good time; else half-widths are added up."""
    return weighing if weighing and weighing.entries <= MAX_WEIGHED else None
